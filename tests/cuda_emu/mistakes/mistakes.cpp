/* Planted mistakes as cases: one for each way to run them. */
#include "mistakes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct way {
    char mode;
    const char *name, *settings;
    enum emu_build build;
};

/* Replay only compares: which order runs last does not matter there. */
static const struct way ways[] = {
    {'a', "ascending, eager", "", ONLY_FAST},
    {'d', "descending", "order=desc", ONLY_FAST},
    {'l', "lazy", "async=lazy", ONLY_FAST},
    {'r', "random", "order=rand:3,async=rand:5", ONLY_FAST},
    {'p', "replay", "replay=1", ONLY_FAST},
    {'c', "check", "", ONLY_CHECK},
    {'C', "check, lazy", "async=lazy", ONLY_CHECK},
    {'D', "check, descending, lazy", "order=desc,async=lazy", ONLY_CHECK},
    {'R', "check, random", "order=rand:3,async=rand:5", ONLY_CHECK},
};

static void add(const char *what, const struct way *way, void (*run)(void),
                int status, const char *says)
{
    std::string rule = std::string(what) + " [" + way->name + "]";
    /* the cases live as long as the program */
    emu_case one = {
        strdup(rule.c_str()), way->settings, run, status, says, way->build};

    emu_add_cases(&one, 1);
}

static const char *expected(const struct mistake *m, char mode)
{
    const char *says = m->says != NULL ? m->says : "the result is wrong";

    if (mode == 'p')
        return "gives other results when its threads run in another order";
    return strchr("cC", mode) != NULL && m->says_check != NULL ? m->says_check
                                                               : says;
}

int emu_add_mistakes(const struct mistake *mistakes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (const auto &way : ways)
            if (strchr(mistakes[i].modes, way.mode) != NULL)
                add(mistakes[i].what, &way, mistakes[i].run, 86,
                    expected(&mistakes[i], way.mode));
    return 0;
}

int emu_add_correct(const char *what, void (*run)(void))
{
    for (const auto &way : ways)
        add(what, &way, run, 0, NULL);
    return 0;
}

static void found(const char *how, const char *what)
{
    fprintf(stderr, "%s: %s\n", how, what);
    fflush(NULL);
    _exit(86);
}

void emu_wrong_result(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: ", file, line);
    found("the result is wrong", what);
}

void emu_refused(int result, int expected, const char *call)
{
    if (result == expected)
        found("refused", call);
    fprintf(stderr, "%s gave %d, not %d\n", call, result, expected);
}

/* ---- short forms ----------------------------------------------------------
 */

cudaStream_t first(void)
{
    static cudaStream_t stream = new_stream();

    return stream;
}

cudaStream_t second(void)
{
    static cudaStream_t stream = new_stream();

    return stream;
}

static float *numbers(size_t n, float v, float step)
{
    std::vector<float> host(n);
    float *device = array_of<float>(n);

    for (size_t i = 0; i < n; i++)
        host[i] = v + step * (float)i;
    send(device, host.data(), n * sizeof(float), first());
    return device;
}

float *filled(size_t n, float v)
{
    return numbers(n, v, 0);
}

float *counted(size_t n, float v)
{
    return numbers(n, v, 1);
}

int *zeroes(size_t n)
{
    int *device = array_of<int>(n);

    GOOD(cudaMemsetAsync(device, 0, n * sizeof(int), first()));
    return device;
}

float value_at(const float *device, size_t i)
{
    float value = NAN;

    fetch(&value, device + i, sizeof value, first());
    return value;
}

bool all_are(const float *device, size_t n, float v)
{
    std::vector<float> host(n);

    fetch(host.data(), device, n * sizeof(float), first());
    for (float x : host)
        if (x != v)
            return false;
    return true;
}
