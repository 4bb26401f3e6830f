/* Keys of the data block. */
#include <stddef.h>

#include "config/schema.h"

#define AT(member) offsetof(struct config, data.member)

static const struct choice horizon_modes[] = {
    {"path", M2_HORIZON_PATH, "all each steps full"},
    {"last", M2_HORIZON_LAST, "final end point"},
    {"sum", M2_HORIZON_SUM, "total cumulative return"},
    {0},
};

static const struct choice channel_modes[] = {
    {"mixed", CHANNELS_MIXED, "joint dependent together multivariate"},
    {"independent", CHANNELS_INDEPENDENT,
     "channel_independent separate univariate"},
    {0},
};

static const struct choice missing_policies[] = {
    {"error", MISSING_ERROR, "raise fail none"},
    {"drop", MISSING_DROP, "dropna skip remove"},
    {"ffill", MISSING_FFILL, "forward forward_fill pad fill"},
    {0},
};

static const struct choice scales[] = {
    {"zscore", SCALE_ZSCORE,
     "standard standardize standardise standardscaler z-score normalize true"},
    {"minmax", SCALE_MINMAX, "min_max minmaxscaler range 0-1"},
    {"none", SCALE_NONE, "off no false null raw identity"},
    {0},
};

static const struct choice window_norms[] = {
    {"none", M2_NORM_NONE, "off no false null"},
    {"last", M2_NORM_LAST, "subtract_last nlinear"},
    {"zscore", M2_NORM_ZSCORE, "revin instance standard z-score true"},
    {0},
};

static const struct key split[] = {
    {.name = "train",
     .type = KEY_BOUND,
     .offset = AT(split.train),
     .initial = "0.8",
     .habits = "train_ratio train_size training",
     .help = "The first part in time: a fraction of the rows (0.8), a number "
             "of rows (5000), or the date at which it ends (2024-01-01)."},
    {.name = "val",
     .type = KEY_BOUND,
     .offset = AT(split.val),
     .initial = "0.2",
     .habits = "valid validation dev eval val_ratio val_size",
     .help = "The part after it, for `metric`: like train."},
    {.name = "test",
     .type = KEY_BOUND,
     .offset = AT(split.test),
     .initial = "0",
     .habits = "holdout test_ratio test_size",
     .help = "The last part, scored once, after training: like train; 0 is "
             "none."},
    {.name = "embargo",
     .type = KEY_INT,
     .offset = AT(split.embargo),
     .initial = "0",
     .low = 0,
     .high = 1e12,
     .habits = "gap purge",
     .help = "Rows left out between two parts."},
    {.name = "context",
     .type = KEY_BOOL,
     .offset = AT(split.context),
     .initial = "true",
     .habits = "overlap lookback_overlap",
     .help = "Whether the look-back of a window may reach into the part "
             "before; its targets never do."},
    {0},
};

const struct key schema_data[] = {
    {.name = "source",
     .type = KEY_STRING,
     .flags = KEY_NO_SWEEP | KEY_IS_PATH,
     .offset = AT(source),
     .initial = "synthetic",
     .habits = "type format kind reader loader dataset",
     .help = "Where the series come from: csv, dbn, synthetic, or the name or "
             "file of a data plugin."},
    {.name = "path",
     .type = KEY_PATHS,
     .flags = KEY_NO_IDENTITY,
     .offset = AT(paths),
     .count_offset = AT(n_paths),
     .initial = "[]",
     .habits = "paths file files filename dir directory root data_path "
               "root_path csv",
     .help = "A file, a pattern (*.dbn.zst), a directory, or a list of them; "
             "relative to the file that holds this key. The contents are part "
             "of a run's identity, the place is not."},
    {.name = "options",
     .type = KEY_BLOCK,
     .habits = "kwargs args params settings source_options",
     .help = "Options of the data source."},
    {.name = "features",
     .type = KEY_EXPRESSIONS,
     .offset = AT(features),
     .count_offset = AT(n_features),
     .initial = "[]",
     .habits = "feature inputs input columns cols x feature_columns",
     .help = "What the model sees: column names, or functions of columns as "
             "log_return(close)."},
    {.name = "target",
     .type = KEY_EXPRESSIONS,
     .offset = AT(targets),
     .count_offset = AT(n_targets),
     .initial = "[]",
     .habits = "targets label labels y output outputs target_column",
     .help = "What the model forecasts: like features."},
    {.name = "window",
     .type = KEY_INT,
     .offset = AT(window),
     .initial = "60",
     .low = 1,
     .high = 1e6,
     .habits = "seq_len seq_length sequence_length lookback look_back "
               "context_length context_len window_size input_length "
               "input_size block_size max_length history input_chunk_length",
     .help = "Look-back: rows the model sees before a forecast."},
    {.name = "horizon",
     .type = KEY_INT,
     .offset = AT(horizon),
     .initial = "1",
     .low = 1,
     .high = 1e6,
     .habits = "pred_len prediction_length prediction_horizon "
               "forecast_horizon forecast_length output_length steps_ahead h "
               "output_chunk_length",
     .help = "Steps ahead that are forecast."},
    {.name = "horizon_mode",
     .type = KEY_CHOICE,
     .offset = AT(horizon_mode),
     .initial = "path",
     .choices = horizon_modes,
     .help = "path forecasts every step up to the horizon, last only the step "
             "at the horizon, sum the sum over it (the return over H bars)."},
    {.name = "stride",
     .type = KEY_INT,
     .offset = AT(stride),
     .initial = "1",
     .low = 1,
     .high = 1e9,
     .habits = "step step_size hop shift train_stride",
     .help = "Rows from one training window to the next."},
    {.name = "eval_stride",
     .type = KEY_INT,
     .offset = AT(eval_stride),
     .initial = "1",
     .low = 1,
     .high = 1e9,
     .habits = "val_stride test_stride",
     .help = "Rows from one evaluation window to the next."},
    {.name = "channels",
     .type = KEY_CHOICE,
     .offset = AT(channels),
     .initial = "mixed",
     .choices = channel_modes,
     .habits = "channel_mode channel_independence",
     .help = "mixed feeds all features together; independent makes each "
             "channel a sample of its own (features and target are then the "
             "same columns)."},
    {.name = "max_gap",
     .type = KEY_FLOAT,
     .offset = AT(max_gap),
     .initial = "10",
     .low = 1,
     .high = 1e12,
     .word = "ignore",
     .habits = "gap max_gap_bars gap_limit",
     .help = "A step in time longer than this many bar intervals breaks a "
             "window; ignore never breaks one."},
    {.name = "fill",
     .type = KEY_INT,
     .offset = AT(fill),
     .initial = "0",
     .low = 0,
     .high = 1e6,
     .habits = "fill_limit ffill forward_fill max_fill",
     .help = "Bars missing in a row that are filled in with the last close; "
             "longer gaps stay gaps."},
    {.name = "missing",
     .type = KEY_CHOICE,
     .offset = AT(missing),
     .initial = "error",
     .choices = missing_policies,
     .habits = "nan na nan_policy on_missing fillna dropna",
     .help = "Empty cells: error stops, drop leaves the row out, ffill repeats "
             "the value before. What was done is counted."},
    {.name = "split",
     .type = KEY_BLOCK,
     .block = split,
     .habits = "splits train_test_split partition",
     .help = "Training, validation and test part, in this order in time."},
    {.name = "scale",
     .type = KEY_CHOICE,
     .offset = AT(scale),
     .initial = "zscore",
     .choices = scales,
     .habits = "scaler scaling normalize normalise normalization "
               "standardize",
     .help = "Scaling per series and column, fitted on the training part "
             "only."},
    {.name = "window_norm",
     .type = KEY_CHOICE,
     .offset = AT(window_norm),
     .initial = "none",
     .choices = window_norms,
     .habits = "revin instance_norm use_norm",
     .help = "Centring of each window by its own look-back, undone on the "
             "forecast: last subtracts the last value, zscore also divides by "
             "the spread."},
    {0},
};
