/* Messages of the program: to stderr, and to a run's log.txt once there is one.
 *
 * The sink is the one process-wide state of the runner: a process works on one
 * run only, and plugins report through a callback without a handle. Safe to
 * call from several threads; a message is one write, so lines of parallel
 * processes do not mix. stdout is never touched: it belongs to results. */
#ifndef M2_UTIL_LOG_H
#define M2_UTIL_LOG_H

#include "m2_plugin.h"
#include "util/file.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DETAIL, LOG_NOTE };

/* Messages above this level are dropped on stderr, never in the file.
 * LOG_DETAIL at the start; LOG_INFO is one run of many, LOG_WARNING is
 * --quiet. */
void log_set_level(enum log_level level);
enum log_level log_level(void);

/* "m2run: error: ...", "m2run: warning: ...", and for info the text alone. A
 * message may hold several lines; the final newline is added. */
__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);

/* What a reader of one run wants and a reader of a sweep does not. */
__attribute__((format(printf, 1, 2))) void log_detail(const char *format, ...);

/* To the run's file only: what stderr is told in other words. */
__attribute__((format(printf, 1, 2))) void log_note(const char *format, ...);

/* From now on messages go to this file, too, appended; log_close ends that. */
int log_open(const char *path, struct m2_error *err);
int log_open_at(const struct file_at *file, struct m2_error *err);
void log_close(void);

/* Called before each message to stderr, under the lock of the sink: erases a
 * progress line. NULL: nothing. It must not log. */
void log_before_message(void (*erase)(void));

/* The `log` member of struct m2_host: level 0 is info, 1 a warning. */
void log_from_plugin(int level, const char *message_text);

#endif
