# tests/cli/example.sh: a small experiment without files; tests source it after
# tap.sh. json FILE PATH... prints what is there.
cat >tiny.yaml <<'END'
name: tiny
threads: 1
data:
  source: synthetic
  options: {kind: bars, rows: 400}
  features: [log_return(close)]
  target: [log_return(close)]
  window: 16
model: {d_model: 8, n_layer: 1, d_state: 4, headdim: 4}
train: {epochs: 1, batch_size: 64}
END

json() {
    "$top_builddir/tests/cli/json_check" "$@" 2>&1
}

# soon COMMAND...: repeats the command until it succeeds, at most 20 s
soon() {
    soon_tries=0
    until "$@" >/dev/null 2>&1; do
        soon_tries=$((soon_tries + 1))
        [ "$soon_tries" -lt 200 ] || return 1
        sleep 0.1
    done
}
