/* Keys at the top of an experiment file, and checkpoints. */
#include <stddef.h>

#include "config/schema.h"

#define AT(member) offsetof(struct config, member)

static const struct choice dtypes[] = {
    {"f32", M2_F32, "float32 fp32 float single 32 torch.float32"},
    {"f64", M2_F64, "float64 fp64 double 64 torch.float64"},
    {0},
};

static const struct choice metrics[] = {
    {"val/loss", 0, "val_loss valid_loss validation_loss eval_loss loss"},
    {"val/mse", 0, "mse val_mse"},
    {"val/mae", 0, "mae val_mae"},
    {"val/rmse_raw", 0, "rmse val_rmse rmse_raw val/rmse"},
    {"val/hit_rate", 0, "accuracy hit_rate val_accuracy val/accuracy"},
    {"val/ic", 0, "ic val_ic"},
    {"val/rank_ic", 0, "rank_ic val_rank_ic"},
    {"val/skill", 0, "skill val_skill"},
    {"train/loss", 0, "train_loss training_loss"},
    {0},
};

static const struct key checkpoint[] = {
    {.name = "every",
     .type = KEY_INT,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP,
     .offset = AT(checkpoint.every),
     .initial = "epoch",
     .word = "epoch",
     .low = 1,
     .high = 1e15,
     .habits = "save_every save_interval save_steps interval frequency",
     .help = "When a checkpoint is written: after each epoch, or every N "
             "steps. One is always written at the last step."},
    {.name = "keep_last",
     .type = KEY_INT,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP,
     .offset = AT(checkpoint.keep_last),
     .initial = "1",
     .low = 0,
     .high = 1,
     .habits = "save_last save_total_limit",
     .help = "1 keeps last.safetensors when the run is done."},
    {.name = "keep_best",
     .type = KEY_INT,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP,
     .offset = AT(checkpoint.keep_best),
     .initial = "1",
     .low = 0,
     .high = 1,
     .habits = "save_best save_best_only save_top_k",
     .help = "1 keeps best.safetensors: the parameters at the best value of "
             "`metric`."},
    {0},
};

const struct key schema_top[] = {
    {.name = "format",
     .type = KEY_FORMAT,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP,
     .initial = "1",
     .habits = "version schema_version apiVersion",
     .help = "Version of the experiment file; 1 is the only one."},
    {.name = "name",
     .type = KEY_STRING,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP | KEY_IS_NAME,
     .offset = AT(name),
     .initial = "experiment",
     .habits = "title experiment experiment_name project run_name",
     .help = "Folder of the results: results/NAME/. Letters, digits and "
             ". _ -. Without it, the name of the file without .yaml."},
    {.name = "seed",
     .type = KEY_SEED,
     .flags = KEY_NO_SWEEP,
     .offset = AT(seed),
     .initial = "0",
     .habits = "random_seed rng_seed manual_seed random_state",
     .help = "Start of every random number: initial parameters, order of the "
             "training windows, generated data. Several seeds: sweep.seeds."},
    {.name = "device",
     .type = KEY_STRING,
     .flags = KEY_IS_PATH,
     .offset = AT(device),
     .initial = "cpu",
     .habits = "backend accelerator gpu gpus",
     .help = "Where it computes: cpu, cuda, cuda:1 (second GPU), auto (cuda "
             "where there is one, else cpu), ref (slow and exact), or the file "
             "of a backend plugin."},
    {.name = "dtype",
     .type = KEY_CHOICE,
     .offset = AT(dtype),
     .initial = "f32",
     .choices = dtypes,
     .habits = "precision data_type floatx",
     .help = "Numbers of parameters and activations."},
    {.name = "tf32",
     .type = KEY_BOOL,
     .offset = AT(tf32),
     .initial = "false",
     .habits = "allow_tf32 enable_tf32 use_tf32 tensor_float_32",
     .help = "dtype f32 on cuda: matrix products may round their factors to 10 "
             "bits of mantissa, which tensor cores compute faster. Results "
             "differ from those without; other devices take no notice."},
    {.name = "threads",
     .type = KEY_INT,
     .flags = KEY_NO_IDENTITY | KEY_NO_SWEEP,
     .offset = AT(threads),
     .initial = "0",
     .low = 0,
     .high = 4096,
     .habits = "num_threads n_threads nthreads n_jobs cores cpus num_workers "
               "workers",
     .help = "CPU threads of one run; 0 is this run's share of the allowed "
             "cores. Never changes a result."},
    {.name = "metric",
     .type = KEY_WORD,
     .offset = AT(metric),
     .initial = "val/loss",
     .choices = metrics,
     .habits = "monitor objective metrics metric_for_best_model",
     .help = "What early stopping, the best checkpoint and the leaderboard "
             "look at. Whether high or low is good follows from the name."},
    {.name = "data",
     .type = KEY_BLOCK,
     .block = schema_data,
     .habits = "dataset datasets input",
     .help = "Where the series come from, and how windows are cut from them."},
    {.name = "model",
     .type = KEY_BLOCK,
     .habits = "network net architecture arch model_config",
     .help = "The network."},
    {.name = "train",
     .type = KEY_BLOCK,
     .block = schema_train,
     .habits = "training trainer fit training_args",
     .help = "How the parameters are fitted."},
    {.name = "checkpoint",
     .type = KEY_BLOCK,
     .block = checkpoint,
     .habits = "checkpoints checkpointing save saving ckpt",
     .help = "What is saved, and when. Never changes a result."},
    {0},
};
