/* The settings of the mock backend, from the environment. */
#include <stdlib.h>
#include <string.h>

#include "tests/mock/mock.h"

static int read_one(const char *text, struct mock_settings *out,
                    struct m2_error *err)
{
    const struct {
        const char *name;
        int *value;
    } known[] = {
        {"devices=", &out->devices},
        {"defer", &out->defer},
        {"fail-open", &out->fail_open},
        {"fail-reserve", &out->fail_reserve},
        {"fail-alloc=", &out->fail_alloc},
        {"fail-upload=", &out->fail_upload},
        {"fail-download=", &out->fail_download},
        {"fail-op=", &out->fail_op},
        {"nan-op=", &out->nan_op},
        {"noise-op=", &out->noise_op},
        {"crash-op=", &out->crash_op},
        {"refuse=", &out->refuse},
        {"numerics=", &out->numerics},
        {"slow=", &out->slow},
        {"mem=", &out->mem},
        {"strict", &out->strict},
        {"lost-op=", &out->lost_op},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].name);

        if (strncmp(text, known[i].name, length) != 0)
            continue;
        *known[i].value =
            known[i].name[length - 1] == '=' ? atoi(text + length) : 1;
        return M2_OK;
    }
    return m2_fail(err, M2_E_DEVICE, "mock: unknown setting %s in M2_MOCK",
                   text);
}

int mock_settings_read(struct mock_settings *out, struct m2_error *err)
{
    const char *text = getenv("M2_MOCK");
    char *copy, *rest, *setting;
    int rc = M2_OK;

    *out = (struct mock_settings){.devices = 1, .refuse = -1, .numerics = 1};
    if (text == NULL)
        return M2_OK;
    copy = strdup(text);
    if (copy == NULL)
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory");
    rest = copy;
    while (rc == M2_OK && (setting = strsep(&rest, ",")) != NULL) {
        if (setting[0] != '\0')
            rc = read_one(setting, out, err);
    }
    free(copy);
    return rc;
}
