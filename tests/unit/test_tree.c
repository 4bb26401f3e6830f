/* YAML text to trees: places, limits, aliases, merging. */
#include "unit.h"

#include "config/tree.h"

struct fixture {
    struct tree tree;
    struct messages messages;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    tree_init(&f->tree);
    *state = f;
    return f == NULL;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tree_free(&f->tree);
    messages_free(&f->messages);
    free(f);
    return 0;
}

static struct node *parse(struct fixture *f, const char *text)
{
    const struct source *source =
        tree_add_source(&f->tree, "t.yaml", NULL, text, strlen(text));

    assert_non_null(source);
    return tree_parse(&f->tree, source, &f->messages);
}

static struct node *parse_ok(struct fixture *f, const char *text)
{
    struct node *root = parse(f, text);

    if (root == NULL || f->messages.n_errors > 0)
        fail_msg("%s", f->messages.count > 0 ? f->messages.items[0].text
                                             : "no message");
    return root;
}

static void assert_place(const struct node *node, int line, int column,
                         int width)
{
    assert_int_equal(node->place.line, line);
    assert_int_equal(node->place.column, column);
    assert_int_equal(node->place.width, width);
}

static void a_node_knows_its_line_column_and_width(void **state)
{
    struct node *root = parse_ok(*state, "a: 12\nb:\n  - x\n  - \"y z\"\n"
                                         "ü: {c: d}\n");
    struct node *list = node_get(root, "b");

    assert_place(node_get(root, "a"), 1, 4, 2);
    assert_place(node_get(root, "a")->key, 1, 1, 1);
    assert_place(list->first, 3, 5, 1);
    assert_place(list->last, 4, 5, 5);
    assert_place(node_get(node_get(root, "ü"), "c"), 5, 8, 1);
    assert_true(list->last->quoted);
    assert_false(list->first->quoted);
    assert_int_equal(list->n_children, 2);
}

static void a_byte_order_mark_is_no_character(void **state)
{
    struct node *root = parse_ok(*state, "\xEF\xBB\xBF"
                                         "a: 1\r\nb: 2\r\n");

    assert_place(node_get(root, "a"), 1, 4, 1);
    assert_place(node_get(root, "b"), 2, 4, 1);
}

static void only_comments_are_an_empty_mapping(void **state)
{
    assert_int_equal(parse_ok(*state, "# nothing\n")->kind, NODE_MAP);
    assert_int_equal(parse_ok(*state, "")->n_children, 0);
}

static void block_and_tagged_scalars_are_text(void **state)
{
    struct node *root =
        parse_ok(*state, "a: !!str 12\nb: |\n  13\nc: ! 14\nd: 15\n");

    assert_true(node_get(root, "a")->quoted);
    assert_true(node_get(root, "b")->quoted);
    assert_string_equal(node_get(root, "b")->text, "13\n");
    assert_true(node_get(root, "c")->quoted);
    assert_false(node_get(root, "d")->quoted);
}

static void an_alias_is_a_copy(void **state)
{
    struct fixture *f = *state;
    struct node *root = parse_ok(f, "a: &x {k: 1, l: [2]}\nb: *x\n");
    struct node *b = node_get(root, "b");

    assert_ptr_not_equal(node_get(root, "a"), b);
    assert_string_equal(node_get(b, "k")->text, "1");
    assert_string_equal(node_get(b, "l")->first->text, "2");
    assert_place(node_get(b, "k"), 1, 11, 1); /* where it is written */
    node_remove(b, "k");
    assert_non_null(node_get(node_get(root, "a"), "k"));
}

static void merge_keys_give_way_to_own_and_earlier_ones(void **state)
{
    struct node *root =
        parse_ok(*state, "a: &a {k: 1, l: 1}\nb: &b {k: 2, m: 2}\n"
                         "c:\n  <<: [*a, *b]\n  l: 3\nd:\n  \"<<\": 4\n");
    struct node *c = node_get(root, "c");

    assert_string_equal(node_get(c, "k")->text, "1");
    assert_string_equal(node_get(c, "l")->text, "3");
    assert_string_equal(node_get(c, "m")->text, "2");
    assert_null(node_get(c, "<<"));
    assert_non_null(node_get(node_get(root, "d"), "<<"));
}

static void merging_trees_is_deep_and_replaces_lists(void **state)
{
    struct fixture *f = *state;
    struct node *base =
        parse_ok(f, "a: {x: 1, y: {p: 1, q: 1}}\nl: [1, 2]\ns: old\n");
    struct node *over = parse_ok(f, "a: {y: {q: 2, r: 2}}\nl: [3]\nt: new\n");
    struct node *merged = node_merge(base, over);
    struct node *y = node_get(node_get(merged, "a"), "y");

    assert_string_equal(node_get(node_get(merged, "a"), "x")->text, "1");
    assert_string_equal(node_get(y, "p")->text, "1");
    assert_string_equal(node_get(y, "q")->text, "2");
    assert_string_equal(node_get(y, "r")->text, "2");
    assert_int_equal(node_get(merged, "l")->n_children, 1);
    assert_string_equal(node_get(merged, "s")->text, "old");
    assert_string_equal(node_get(merged, "t")->text, "new");
    assert_int_equal(merged->n_children, 4);
}

static void removing_keeps_the_others_in_order(void **state)
{
    struct fixture *f = *state;
    struct node *root = parse_ok(f, "a: 1\nb: 2\nc: 3\n");

    node_remove(root, "c");
    node_remove(root, "a");
    node_remove(root, "no such key");
    assert_ptr_equal(root->first, root->last);
    assert_string_equal(root->first->key->text, "b");
    node_append(root, node_new_scalar(&f->tree, root->place, "x"));
    assert_int_equal(root->n_children, 2);
}

static void a_value_of_the_command_line_has_its_place_there(void **state)
{
    struct fixture *f = *state;
    const char *line = "features=[a, \"b c\"]\n";
    const struct source *source =
        tree_add_source(&f->tree, "command line", NULL, line, strlen(line));
    struct place place = {source, 1, 10, 10};
    struct node *list =
        tree_parse_value(&f->tree, place, "[a, \"b c\"]", &f->messages);

    assert_non_null(list);
    assert_int_equal(list->kind, NODE_LIST);
    assert_place(list->first, 1, 11, 1);
    assert_place(list->last, 1, 14, 5);
    assert_string_equal(
        tree_parse_value(&f->tree, place, "a: b # c", &f->messages)->text,
        "a: b # c");
}

static void limits_are_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: 1\na: 2\n", "duplicate key 'a' (first at line 1)"},
        {"a: 1\n---\nb: 2\n", "second document"},
        {"a: &x [*x]\n", "refers to itself"},
        {"a: *x\n", "has no '&x' above"},
        {"[a]: 1\n", "a key must be a plain word"},
        {"a: !!int 1\n", "'!!int' is not supported"},
        {"a: \"\\0\"\n", "NUL"},
        {"\xFF\xFE", "UTF-16"},
        {"a: [1\n", "the ']' of the list"},
        {"a: \xC3(\n", "UTF-8"},
        {"\ta: 1\n", "tab"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f = {0};
        struct text said = {0};

        tree_init(&f.tree);
        parse(&f, cases[i].text);
        messages_print(&f.messages, &said);
        if (strstr(text_string(&said), cases[i].message) == NULL)
            fail_msg("%zu: %s", i, text_string(&said));
        text_free(&said);
        tree_free(&f.tree);
        messages_free(&f.messages);
    }
    (void)state;
}

static void a_large_text_is_refused_before_it_is_read(void **state)
{
    struct fixture *f = *state;
    size_t size = (1 << 20) + 1;
    char *text = malloc(size);
    const struct source *source;

    memset(text, '#', size);
    source = tree_add_source(&f->tree, "t.yaml", NULL, text, size);
    assert_null(tree_parse(&f->tree, source, &f->messages));
    assert_int_equal(f->messages.n_errors, 1);
    free(text);
}

static void a_bomb_of_aliases_stops_at_the_limit(void **state)
{
    struct fixture *f = *state;
    struct text bomb = {0};

    text_add(&bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++)
        text_addf(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1,
                  i - 1);
    assert_null(parse(f, text_string(&bomb)));
    assert_true(f->tree.n_nodes <= 20000);
    text_free(&bomb);
}

static void messages_are_sorted_and_said_once(void **state)
{
    struct fixture *f = *state;
    const char *text = "one\ntwo\n";
    const struct source *source =
        tree_add_source(&f->tree, "t.yaml", NULL, text, strlen(text));
    struct text said = {0};

    message_error(&f->messages, (struct place){source, 2, 1, 3}, "second");
    message_warning(&f->messages, (struct place){source, 1, 2, 1}, "first");
    message_error(&f->messages, (struct place){source, 2, 1, 3}, "second");
    messages_print(&f->messages, &said);
    assert_string_equal(text_string(&said), "t.yaml:1:2: warning: first\n"
                                            "    1 | one\n"
                                            "      |  ^\n"
                                            "t.yaml:2:1: error: second\n"
                                            "    2 | two\n"
                                            "      | ^~~\n");
    assert_int_equal(f->messages.n_errors, 1);
    assert_int_equal(f->messages.n_warnings, 1);
    text_free(&said);
}

static void the_first_200_messages_are_kept(void **state)
{
    struct fixture *f = *state;
    const char *text = "a\n";
    const struct source *source =
        tree_add_source(&f->tree, "t.yaml", NULL, text, strlen(text));
    struct text said = {0};
    struct m2_error err;

    for (int i = 0; i < 250; i++)
        message_error(&f->messages, (struct place){source, 1, 1, 1}, "no. %d",
                      i);
    messages_print(&f->messages, &said);
    assert_non_null(strstr(text_string(&said), "and 50 more\n"));
    assert_fails(messages_result(&f->messages, "t.yaml", &err), M2_E_CONFIG,
                 "t.yaml: 250 errors", &err);
    text_free(&said);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_node_knows_its_line_column_and_width),
        TEST(a_byte_order_mark_is_no_character),
        TEST(only_comments_are_an_empty_mapping),
        TEST(block_and_tagged_scalars_are_text),
        TEST(an_alias_is_a_copy),
        TEST(merge_keys_give_way_to_own_and_earlier_ones),
        TEST(merging_trees_is_deep_and_replaces_lists),
        TEST(removing_keeps_the_others_in_order),
        TEST(a_value_of_the_command_line_has_its_place_there),
        TEST(limits_are_errors),
        TEST(a_large_text_is_refused_before_it_is_read),
        TEST(a_bomb_of_aliases_stops_at_the_limit),
        TEST(messages_are_sorted_and_said_once),
        TEST(the_first_200_messages_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
