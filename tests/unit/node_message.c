/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between nodes (turns/node_message.h): what one writes, the other reads.
 */
#include "turns/node_message.h"

#include <criterion/criterion.h>
#include <string.h>

static arena *mem;

static void set_up(void)
{
    mem = arena_new();
}

static void tear_down(void)
{
    arena_free(mem);
}

TestSuite(node_message, .init = set_up, .fini = tear_down);

static node_message sent(const node_message *m, int64_t after)
{
    node_message out;
    buf text;
    buf_init(&text, (size_t)1 << 20);
    node_message_write(m, &text);
    node_message_finish(&text, after);
    cr_assert(node_message_read(mem, text.data, text.n, &out), "%s", text.data);
    buf_release(&text);
    cr_assert_eq(out.kind, m->kind);
    cr_assert_eq(out.after, after);
    return out;
}

Test(node_message, a_snapshot_arrives_as_it_was_sent)
{
    node_part parts[] = {{true, "hm", 2}, {false, "yes \"é\"\n", 9}};
    turn_question question = {.id = "q1",
                              .kind = "permission",
                              .text = "may I?",
                              .options = "[{\"id\":\"y\"}]",
                              .request = "[{\"r\":1}]",
                              .metadata = "{\"of\":\"it\"}",
                              .asked_us = 77};
    node_message m = {.kind = NODE_RUN,
                      .turn = "t1",
                      .host = "h",
                      .session = "s",
                      .tree = "tr",
                      .entry_id = "e",
                      .agent = "echo",
                      .group = "g",
                      .branch = 17,
                      .first = 3,
                      .begun_us = 66,
                      .said = 40,
                      .begin = 5,
                      .upto = 9,
                      .parts = parts,
                      .n_parts = 2,
                      .question = &question,
                      .plan = "{\"steps\":[]}"};
    node_message got = sent(&m, 99);
    cr_assert_str_eq(got.turn, "t1");
    cr_assert_str_eq(got.host, "h");
    cr_assert_str_eq(got.session, "s");
    cr_assert_str_eq(got.tree, "tr");
    cr_assert_str_eq(got.entry_id, "e");
    cr_assert_str_eq(got.agent, "echo");
    cr_assert_str_eq(got.group, "g");
    cr_assert(got.branch == 17 && got.first == 3 && got.said == 40 && got.begin == 5 &&
              got.upto == 9 && got.begun_us == 66 && got.question->asked_us == 77);
    cr_assert_str_eq(got.question->request, "[{\"r\":1}]");
    cr_assert_str_eq(got.question->metadata, "{\"of\":\"it\"}");
    cr_assert_eq(got.n_parts, 2);
    cr_assert(got.parts[0].is_thinking && !got.parts[1].is_thinking);
    cr_assert_eq(got.parts[1].n, parts[1].n);
    cr_assert_str_eq(got.parts[1].text, parts[1].text);
    cr_assert_str_eq(got.question->id, "q1");
    cr_assert_str_eq(got.question->kind, "permission");
    cr_assert_str_eq(got.question->text, "may I?");
    cr_assert_str_eq(got.question->options, "[{\"id\":\"y\"}]");
    cr_assert_str_eq(got.plan, "{\"steps\":[]}");
}

Test(node_message, the_other_kinds_arrive_as_they_were_sent)
{
    node_message delta = sent(
        &(node_message){
            .kind = NODE_DELTA, .turn = "t", .at = 12, .delta = {.text = "wordX", .n = 4}},
        1);
    cr_assert(delta.at == 12 && delta.delta.n == 4 && !delta.delta.is_thinking);
    cr_assert_str_eq(delta.delta.text, "word");
    node_message ended = sent(&(node_message){.kind = NODE_ENDED,
                                              .turn = "t",
                                              .upto = 8,
                                              .status = RAMET_TURN_FAILED,
                                              .error = "no",
                                              .ended_us = 88},
                              2);
    cr_assert(ended.status == RAMET_TURN_FAILED && ended.upto == 8 && ended.ended_us == 88);
    cr_assert_str_eq(ended.error, "no");
    node_message closed = sent(&(node_message){.kind = NODE_QUESTION, .turn = "t"}, 3);
    cr_assert_null(closed.question);
    node_message command = sent(&(node_message){.kind = NODE_COMMAND,
                                                .number = "n1",
                                                .command = {.operation = "answer",
                                                            .session = "s",
                                                            .turn = "t",
                                                            .question = "q",
                                                            .answer = "a",
                                                            .decision = "{\"d\":1}",
                                                            .author = "ann",
                                                            .entry_id = "m1",
                                                            .entry_format = "a2a",
                                                            .entry_body = "{\"m\":1}",
                                                            .entry_parts = "[]",
                                                            .keep = true}},
                                4);
    cr_assert_str_eq(command.number, "n1");
    cr_assert_str_eq(command.command.operation, "answer");
    cr_assert_str_eq(command.command.turn, "t");
    cr_assert_str_eq(command.command.question, "q");
    cr_assert_str_eq(command.command.answer, "a");
    cr_assert_str_eq(command.command.decision, "{\"d\":1}");
    cr_assert_str_eq(command.command.author, "ann");
    cr_assert_str_eq(command.command.entry_id, "m1");
    cr_assert_str_eq(command.command.entry_format, "a2a");
    cr_assert_str_eq(command.command.entry_body, "{\"m\":1}");
    cr_assert_str_eq(command.command.entry_parts, "[]");
    cr_assert(command.command.keep);
    node_message outcome =
        sent(&(node_message){.kind = NODE_OUTCOME, .number = "n1", .outcome = "done"}, 5);
    cr_assert_str_eq(outcome.outcome, "done");
}

Test(node_message, what_is_incomplete_or_not_known_is_refused)
{
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"m\":\"later\",\"turn\":\"t\"}",
                                        "{\"m\":\"words\",\"text\":\"x\"}",
                                        "{\"m\":\"do\",\"no\":\"1\"}",
                                        "{\"m\":\"did\",\"no\":\"1\"}"};
    node_message m;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_not(node_message_read(mem, texts[i], strlen(texts[i]), &m), "%s", texts[i]);
}

/* A node of the version before is on the same database while a deployment is updated. */
Test(node_message, members_keep_their_names)
{
    static const char text[] =
        "{\"m\":\"words\",\"turn\":\"t\",\"at\":7,\"thinking\":true,\"text\":\"hm\",\"after\":3}";
    buf out;
    node_message m;
    cr_assert(node_message_read(mem, text, strlen(text), &m));
    buf_init(&out, 4096);
    node_message_write(&m, &out);
    node_message_finish(&out, m.after);
    cr_assert_str_eq(out.data, text);
    buf_release(&out);
}
