/* Lists of op calls. */
#include "model/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* Argument structs hold pointers, int64_t and double. */
enum { ARGS_ALIGNMENT = 16 };

static int keep(struct program *program, enum m2_op op, const void *args)
{
    size_t size = op_args_size(op);
    size_t padded =
        (size + ARGS_ALIGNMENT - 1) / ARGS_ALIGNMENT * ARGS_ALIGNMENT;

    if (array_reserve(&program->calls, &program->calls_capacity,
                      program->n_calls + 1, sizeof *program->calls,
                      program->err) != 0 ||
        array_reserve(&program->args, &program->args_capacity,
                      program->args_size + padded, 1, program->err) != 0)
        return M2_E_MEMORY;
    memcpy(program->args + program->args_size, args, size);
    program->calls[program->n_calls++] =
        (struct program_call){op, program->args_size};
    program->args_size += padded;
    return 0;
}

static int plan(struct program *program, enum m2_op op, const void *args)
{
    size_t bytes = 0;
    int result = 0;

    if (program->device != NULL)
        result = op_workspace(program->device, op, args, &bytes, program->err);
    if (bytes > program->scratch_bytes)
        program->scratch_bytes = bytes;
    return result;
}

void program_init(struct program *program, struct m2_device *device,
                  bool planning, struct m2_error *err)
{
    *program =
        (struct program){.device = device, .planning = planning, .err = err};
}

void program_free(struct program *program)
{
    free(program->calls);
    free(program->args);
    *program = (struct program){0};
}

void program_add(struct program *program, enum m2_op op, const void *args)
{
    if (program->result != 0)
        return;
    if (program->planning)
        program->result = plan(program, op, args);
    else
        program->result = op_prepare(program->device, op, args, program->err);
    if (program->result == 0 && !program->planning)
        program->result = keep(program, op, args);
    program->flops += op_flops(op, args);
}

int program_check(struct program *program)
{
    program->err = NULL;
    return program->result;
}

void *program_args(struct program *program, size_t call)
{
    assert(call < program->n_calls);
    return program->args + program->calls[call].args;
}

int program_run(struct program *program, struct m2_error *err)
{
    for (size_t i = 0; i < program->n_calls; i++) {
        int result = op_run(program->device, program->calls[i].op,
                            program->args + program->calls[i].args, err);

        if (result != 0)
            return result;
    }
    return 0;
}
