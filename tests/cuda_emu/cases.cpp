/* Runs the cases of a test program of the emulator, and prints TAP. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static std::vector<emu_case> &all_cases()
{
    static std::vector<emu_case> cases;

    return cases;
}

void emu_add_cases(const emu_case *cases, size_t n)
{
    all_cases().insert(all_cases().end(), cases, cases + n);
}

/* ---- inside of a case --------------------------------------------------- */

void emu_expect_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    fflush(NULL);
    _exit(1);
}

void emu_expect_equal(double a, double b, const char *what, const char *file,
                      int line)
{
    if (a == b)
        return;
    fprintf(stderr, "%s:%d: %.17g is not %.17g: %s\n", file, line, a, b, what);
    fflush(NULL);
    _exit(1);
}

cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;

    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

char *new_device(size_t bytes)
{
    char *memory = NULL;

    GOOD(cudaMalloc(&memory, bytes));
    return memory;
}

char *new_pinned(size_t bytes)
{
    char *memory = NULL;

    GOOD(cudaMallocHost(&memory, bytes));
    return memory;
}

void send(void *device, const void *host, size_t bytes, cudaStream_t stream)
{
    char *pinned = new_pinned(bytes);

    memcpy(pinned, host, bytes);
    GOOD(
        cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaFreeHost(pinned));
}

void fetch(void *host, const void *device, size_t bytes, cudaStream_t stream)
{
    char *pinned = new_pinned(bytes);

    GOOD(
        cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaStreamSynchronize(stream));
    memcpy(host, pinned, bytes);
    GOOD(cudaFreeHost(pinned));
}

/* ---- around it ---------------------------------------------------------- */

static void apply(const char *settings)
{
    std::string text = settings;

    while (!text.empty()) {
        size_t comma = text.find(','), equals = text.find('=');
        size_t end = comma == std::string::npos ? text.size() : comma;

        EXPECT(equals < end);
        EXPECT(emu_set(text.substr(0, equals),
                       text.substr(equals + 1, end - equals - 1)));
        text.erase(0, end + (end < text.size()));
    }
}

/* Runs a case; gives the wait status, and what it wrote to stderr. */
static int run_case(const emu_case &one, std::string *said)
{
    int ends[2], status = 0;
    char piece[4096];
    ssize_t n;
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        alarm(60);
        apply(one.settings);
        one.run();
        fflush(NULL);
        _exit(0);
    }
    close(ends[1]);
    while ((n = read(ends[0], piece, sizeof piece)) > 0)
        said->append(piece, (size_t)n);
    close(ends[0]);
    return child < 0 || waitpid(child, &status, 0) != child ? -1 : status;
}

static void print_said(const std::string &said)
{
    std::string line;

    for (char c : said + "\n") {
        line += c;
        if (c == '\n' && line.size() > 1)
            printf("# %s", line.c_str());
        if (c == '\n')
            line.clear();
    }
}

/* Prints the case's line; false where it failed. */
static bool judge(const emu_case &one, size_t number)
{
    std::string said;
    int status = run_case(one, &said);
    bool ended = WIFSIGNALED(status) ? -WTERMSIG(status) == one.status
                                     : WEXITSTATUS(status) == one.status;
    bool told = one.says == NULL || said.find(one.says) != std::string::npos;

    printf("%sok %zu - %s\n", ended && told ? "" : "not ", number, one.rule);
    if (ended && told)
        return true;
    if (!ended)
        printf("# wait status %#x, expected %d\n", (unsigned)status,
               one.status);
    if (!told)
        printf("# expected: %s\n", one.says);
    print_said(said);
    return false;
}

/* With an argument: only the cases whose rule contains it. */
int main(int argc, char **argv)
{
    size_t number = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const emu_case &one : all_cases()) {
        if (argc > 1 && strstr(one.rule, argv[1]) == NULL)
            continue;
        if ((one.build == ONLY_CHECK && !emu_checks) ||
            (one.build == ONLY_FAST && emu_checks))
            continue;
        failed += !judge(one, ++number);
    }
    printf("1..%zu\n", number);
    return failed != 0;
}
