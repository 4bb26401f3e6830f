/* Collecting what can change a result. */
#include "train/fact_sheet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "data/digest_cache.h"
#include "data/fingerprint.h"
#include "plugins/loader.h"
#include "util/build.h"
#include "util/json.h"
#include "util/machine.h"
#include "util/path.h"

/* ---- machine and build --------------------------------------------------- */

static json_t *host_object(int threads)
{
    struct json_builder builder = json_build();
    struct machine_facts machine;
    struct utsname system;

    machine_facts(&machine);
    if (uname(&system) == 0) {
        json_add_text(&builder, "name", system.nodename);
        json_add_text(&builder, "system", system.sysname);
        json_add_text(&builder, "release", system.release);
        json_add_text(&builder, "machine", system.machine);
    }
    json_add_text(&builder, "cpu", machine.cpu);
    json_add_text(&builder, "isa", machine.isa);
    json_add_text(&builder, "libc", machine.libc);
    json_add_integer(&builder, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    json_add_integer(&builder, "threads", threads);
    return json_built(&builder);
}

/* Only variables that can change a result, or tell where and on how much it was
 * computed: others may hold secrets. */
static json_t *environment_object(void)
{
    static const char *const names[] = {
        "OMP_NUM_THREADS",
        "OMP_PROC_BIND",
        "OPENBLAS_CORETYPE",
        "OPENBLAS_NUM_THREADS",
        "M2_CPU_ISA",
        "GLIBC_TUNABLES",
        "CUDA_VISIBLE_DEVICES",
        "NVIDIA_TF32_OVERRIDE",
        "CUBLAS_WORKSPACE_CONFIG",
        "M2RUN_PLUGIN_PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "SLURM_JOB_ID",
    };
    struct json_builder builder = json_build();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            json_add_text(&builder, names[i], getenv(names[i]));
    return json_built(&builder);
}

static json_t *build_object(void)
{
    const struct build_facts *build = build_facts();
    struct json_builder builder = json_build();

    json_add_text(&builder, "version", build->version);
    json_add_text(&builder, "commit", build->commit);
    json_add(&builder, "dirty", json_boolean(build->dirty));
    json_add_text(&builder, "difference", build->difference);
    json_add_text(&builder, "compiler", build->compiler);
    json_add_text(&builder, "cflags", build->cflags);
    return json_built(&builder);
}

static int add_library(void *context, const char *name,
                       const char build_id[MACHINE_BUILD_ID_SIZE])
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "name", name);
    json_add_text(&builder, "build_id", build_id);
    return json_append(context, json_built(&builder)) ? 0 : M2_E_MEMORY;
}

static json_t *libraries_list(void)
{
    json_t *list = json_array();

    if (list != NULL && machine_libraries(add_library, list) == 0)
        return list;
    return json_drop(list);
}

/* ---- plugins ------------------------------------------------------------- */

/* File and SHA-256 of a plugin; those of one that is built in are m2run's. */
static void add_plugin_file(struct json_builder *builder,
                            const struct plugin *plugin)
{
    char digest[SHA256_HEX_SIZE];

    if (!path_is_absolute(plugin->path))
        return;
    json_add_text(builder, "file", plugin->path);
    if (digest_file(plugin->path, digest, NULL) == 0)
        json_add_text(builder, "sha256", digest);
}

static void add_plugin(struct json_builder *builder,
                       const struct plugin *plugin)
{
    json_add_text(builder, "name", plugin->descriptor->name);
    json_add_text(builder, "build", plugin->descriptor->build);
    json_add_integer(builder, "numerics", plugin->descriptor->numerics);
    add_plugin_file(builder, plugin);
}

static json_t *backend_object(const struct fact_request *request)
{
    const struct session *session = request->session;
    struct json_builder builder = json_build();

    add_plugin(&builder, session->backend);
    json_add_text(&builder, "device", device_label(session->device));
    json_add_text(&builder, "device_name", session->facts.name);
    json_add_text(&builder, "facts", session->facts.facts);
    json_add_integer(&builder, "bytes", (int64_t)device_bytes(session->device));
    json_add(&builder, "tf32", json_boolean(session->config->tf32));
    if (request->device_why != NULL)
        json_add_text(&builder, "chosen", request->device_why);
    return json_built(&builder);
}

/* ---- data ---------------------------------------------------------------- */

static json_t *file_object(const struct data_file *file)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "name", path_basename(file->path));
    json_add_text(&builder, "path", file->path);
    json_add_integer(&builder, "size", file->facts.size);
    json_add_integer(&builder, "mtime_ns", file->facts.mtime_ns);
    json_add_text(&builder, "sha256", file->sha256);
    return json_built(&builder);
}

static json_t *files_list(const struct data_files *files)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < files->n; i++)
        ok = json_append(list, file_object(&files->items[i]));
    return ok ? list : json_drop(list);
}

/* The entries of data.path, by which files that were added are found. */
static json_t *paths_list(const struct config_data *config)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < config->n_paths; i++)
        ok = json_append(list, json_any_text(config->paths[i]));
    return ok ? list : json_drop(list);
}

static json_t *source_object(const struct plugin *plugin)
{
    struct json_builder builder = json_build();

    add_plugin(&builder, plugin);
    return json_built(&builder);
}

static int add_data(struct json_builder *sheet, const struct config *config,
                    struct m2_error *err)
{
    struct json_builder builder;
    struct data_files files;
    const struct plugin *plugin;
    int code = plugin_load(config->data.source, M2_PLUGIN_DATA, &plugin, err);

    if (code == 0)
        code = data_files_find(&config->data, &files, err);
    if (code != 0)
        return code;
    builder = json_build();
    json_add(&builder, "paths", paths_list(&config->data));
    json_add(&builder, "files", files_list(&files));
    json_add(&builder, "plugin", source_object(plugin));
    json_add(sheet, "data", json_built(&builder));
    data_files_free(&files);
    return 0;
}

/* ---- the sheet ----------------------------------------------------------- */

int fact_sheet_make(const struct fact_request *request, json_t **out,
                    struct m2_error *err)
{
    struct json_builder sheet = json_build();
    json_t *made;
    int code = 0;

    json_add(&sheet, "host", host_object(request->threads));
    json_add(&sheet, "environment", environment_object());
    json_add(&sheet, "build", build_object());
    if (request->config != NULL)
        code = add_data(&sheet, request->config, err);
    if (request->session != NULL)
        json_add(&sheet, "backend", backend_object(request));
    json_add(&sheet, "libraries", libraries_list());
    made = json_built(&sheet);
    if (code == 0 && made == NULL)
        return m2_fail(err, M2_E_MEMORY, "facts of the run: out of memory");
    if (code == 0)
        *out = made;
    else
        json_decref(made);
    return code;
}

int fact_sheet_now(const struct config *config, int threads, json_t **out,
                   struct m2_error *err)
{
    struct session session = {.config = config};
    const struct fact_request request = {
        .config = config, .session = &session, .threads = threads};
    int code = session_open_device(config, threads, &session, err);

    if (code == 0)
        code = fact_sheet_make(&request, out, err);
    session_close(&session);
    return code;
}
