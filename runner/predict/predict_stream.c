/* The loop of `predict --stream`. */
#include "predict/predict_stream.h"

#include <errno.h>
#include <string.h>

#include "util/timefmt.h"

struct loop {
    const struct predict_stream_request *request;
    struct row_reader *reader;
    struct stream *stream;
    struct lines_format format;
    struct text text;
};

static int write_out(struct loop *loop, struct m2_error *err)
{
    FILE *out = loop->request->out;
    int code = text_check(&loop->text, err);

    if (code == 0 && (fwrite(text_string(&loop->text), 1, loop->text.length,
                             out) != loop->text.length ||
                      fflush(out) != 0))
        code = m2_fail(err, M2_E_FAILED, "writing predictions: %s",
                       strerror(errno));
    text_clear(&loop->text);
    return code;
}

/* A failure of the data is told with the line it came from. */
static int at_line(const struct loop *loop, int code, struct m2_error *err)
{
    struct m2_error cause = *err;

    if (code != M2_E_DATA)
        return code;
    return m2_fail(err, code, "%s:%lld: %.1900s", loop->request->in_name,
                   (long long)row_reader_line(loop->reader), cause.text);
}

static int answer_row(struct loop *loop, const struct stream_row *row,
                      struct m2_error *err)
{
    struct latency *latency = loop->request->latency;
    double begin = latency != NULL ? time_monotonic() : 0.0;
    struct stream_answer answer;
    int code = stream_push(loop->stream, row, &answer, err);

    if (code != 0)
        return at_line(loop, code, err);
    if (latency != NULL && answer.ready)
        latency_add(latency, time_monotonic() - begin);
    for (size_t i = 0; i < answer.n; i++)
        lines_add(&loop->format, &answer.forecasts[i], &loop->text);
    return write_out(loop, err);
}

static int answer_all(struct loop *loop, struct m2_error *err)
{
    struct stream_row row;
    bool end = false;
    int code;

    loop->format = stream_format(loop->stream, loop->request->json);
    row_reader_want(loop->reader, stream_wanted(loop->stream));
    lines_header(&loop->format, &loop->text);
    code = write_out(loop, err);
    while (code == 0) {
        code = row_reader_next(loop->reader, &row, &end, err);
        if (code != 0 || end)
            break;
        code = answer_row(loop, &row, err);
    }
    return code;
}

/* The checkpoint, then the header of the input, then the model. */
static int run(struct loop *loop, const struct checkpoint_parts *checkpoint,
               const struct stream_instruments *instruments,
               struct m2_error *err)
{
    const struct predict_stream_request *request = loop->request;
    struct stream_request stream = {
        .config = request->run.config,
        .checkpoint = checkpoint,
        .instruments = instruments,
        .unbounded = request->unbounded,
        .threads = request->run.threads,
    };
    int code =
        row_reader_open(request->in, request->in_name, &loop->reader, err);

    if (code != 0)
        return code;
    stream.n_columns = row_reader_columns(loop->reader, &stream.columns);
    code = stream_open(&stream, &loop->stream, err);
    return code == 0 ? answer_all(loop, err) : code;
}

int predict_stream(const struct predict_stream_request *request,
                   struct m2_error *err)
{
    struct loop loop = {.request = request};
    struct checkpoint_parts checkpoint;
    struct stream_instruments instruments;
    int code = stream_instruments_read(request->run.run, &instruments, err);

    if (code != 0)
        return code;
    code = predictor_read(&request->run, &checkpoint, err);
    if (code == 0) {
        code = run(&loop, &checkpoint, &instruments, err);
        stream_close(loop.stream);
        row_reader_close(loop.reader);
        text_free(&loop.text);
        checkpoint_parts_free(&checkpoint);
    }
    stream_instruments_free(&instruments);
    return code;
}
