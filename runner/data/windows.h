/* Lists of windows: which first rows give a whole window, and in which part.
 *
 * A start s is whole when rows s .. s+L-1 have every feature, rows
 * s .. s+L+H-1 have every target (a target's own past is what window_norm and
 * the baselines are made of), and all of them lie in one piece.  It is in the
 * part that holds rows s+L .. s+L+H-1; its look-back lies in the same part,
 * or, with split.context and in val or test, anywhere before.
 *
 * stride takes the first of every run of neighbouring whole starts of a part
 * and every stride-th after it.
 *
 * Lists are ordered by the time of the last row of the look-back, then by
 * series. */
#ifndef M2_DATA_WINDOWS_H
#define M2_DATA_WINDOWS_H

#include "data/split.h"

/* The stacked rows that windows are cut from. */
struct windows_input {
    const struct dataset *dataset;  /* S, F, O, series, times, features and
                                       targets (NaN: no value) */
    const uint8_t *starts;          /* (S) 1: first row of a piece */
    const struct split_part *parts; /* (N_PARTS) */
    const struct config_data *config;
    bool all_windows; /* eval_stride for training, too */
};

/* Fills dataset->parts, ->live and, with all_windows, ->all.  longest (N_PARTS)
 * gets the longest run of rows, in one piece and one part, that have all
 * values: what a message about a window that is too long needs. */
int windows_make(const struct windows_input *input, struct dataset *dataset,
                 int64_t longest[N_PARTS], struct m2_error *err);

#endif
