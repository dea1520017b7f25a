/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c: full text over what the caller may see; abandoned entries are marked.
 */
#include "help.h"
#include "ramet/memory.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(search, .init = scratch_open, .fini = scratch_close);

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids of the hits, sorted; "!" marks abandoned ones. */
static const char *found_by(ramet_call *c, const ramet_search_in *in)
{
    static char text[1024];
    ramet_hits hits;
    ok_for(c, ramet_search(c, in, &hits));
    const char *names[256];
    char marked[256][64];
    for (size_t i = 0; i < hits.n; i++) {
        snprintf(marked[i], sizeof marked[i], "%s%s", hits.items[i].entry_id,
                 hits.items[i].abandoned ? "!" : "");
        names[i] = marked[i];
        if (i)
            cr_assert_leq(hits.items[i].score, hits.items[i - 1].score, "best first");
    }
    qsort(names, hits.n, sizeof *names, by_text);
    text[0] = 0;
    for (size_t i = 0; i < hits.n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s", have ? " " : "", names[i]);
    }
    return text;
}

static const char *found(const char *query)
{
    return found_by(T.call, &(ramet_search_in){.query = query, .limit = 200});
}

static void fruit(void)
{
    make("s");
    ask("s", "e1", "The quick brown fox likes apples");
    answer("s", "e2", "A lazy dog likes brown pears and apples");
    ask("s", "e3", "Äpfel und Birnen, naïve café");
    make("t");
    ask("t", "e4", "quick quick quick brown");
}

Test(search, all_words_must_occur)
{
    fruit();
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    cr_assert_str_eq(found("brown apples"), "e1 e2");
    cr_assert_str_eq(found("BROWN Fox"), "e1");
    cr_assert_str_eq(found("brown nothing"), "");
    cr_assert_str_eq(found("app"), "", "whole words");
}

Test(search, phrases_prefixes_and_exclusions)
{
    fruit();
    cr_assert_str_eq(found("\"brown fox\""), "e1");
    cr_assert_str_eq(found("\"fox brown\""), "");
    cr_assert_str_eq(found("app*"), "e1 e2");
    cr_assert_str_eq(found("brown -fox"), "e2 e4");
    cr_assert_str_eq(found("likes -\"lazy dog\""), "e1");
    cr_assert_str_eq(found("qui* \"brown fox\""), "e1");
}

Test(search, letters_with_marks)
{
    fruit();
    cr_assert_str_eq(found("äpfel"), "e3");
    cr_assert_str_eq(found("café"), "e3");
    cr_assert_str_eq(found("APFEL cafe"), "e3");
    ask("s", "e9", "Ωμέγα straße ЁЖИК naïveté 東京都 it's C:\\temp don't");
    cr_assert_str_eq(found("ΩΜΈΓΑ"), "e9");
    cr_assert_str_eq(found("STRASSE"), "", "folded letter by letter");
    cr_assert_str_eq(found("straße ёжик"), "e9");
    cr_assert_str_eq(found("naivete 東京都"), "e9");
    cr_assert_str_eq(found("東京*"), "e9");
    cr_assert_str_eq(found("\"c temp\" it's"), "e9");
}

Test(search, odd_queries_are_no_syntax)
{
    fruit();
    static const char *const odd[] = {"\"open", "AND",  "fox OR dog", "a:b",        "(fox",
                                      "fox)",   "*",    "^fox",       "NEAR(a b)",  "fox AND",
                                      "{a}",    "--",   "'",          "\"\"",       "text:fox",
                                      "+fox",   "it's", "a\\",        "fox & !dog", "fox:*"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        ramet_hits hits;
        ramet_status st = ramet_search(T.call, &(ramet_search_in){.query = odd[i]}, &hits);
        cr_assert(st == RAMET_OK || st == RAMET_INVALID, "'%s' gives %s: %s", odd[i],
                  ramet_status_code(st), ramet_call_error(T.call)->message);
    }
    ramet_hits hits;
    refused(RAMET_INVALID, "query", ramet_search(T.call, &(ramet_search_in){.query = ""}, &hits));
    refused(RAMET_INVALID, "query", ramet_search(T.call, &(ramet_search_in){0}, &hits));
    refused(RAMET_INVALID, "limit",
            ramet_search(T.call, &(ramet_search_in){.query = "fox", .limit = 201}, &hits));
    refused(RAMET_BAD_CURSOR, "cursor",
            ramet_search(T.call, &(ramet_search_in){.query = "fox", .cursor = "zz"}, &hits));
}

Test(search, a_hit_tells_where_it_is)
{
    fruit();
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "lazy"}, &hits));
    cr_assert_eq(hits.n, 1);
    const ramet_hit *h = &hits.items[0];
    cr_assert_str_eq(h->session, "s");
    cr_assert_str_eq(h->title, "The quick brown fox likes apples");
    cr_assert_str_eq(h->entry_id, "e2");
    cr_assert_eq(h->branch, get("s")->head.branch);
    cr_assert_eq(h->position, 1);
    cr_assert_eq(h->role, RAMET_ASSISTANT);
    cr_assert_not(h->abandoned);
    cr_assert_eq(h->created, T0 + 3 * SECOND);
    cr_assert_eq(h->n_marks, 1);
    cr_assert_eq(strncmp(h->snippet + h->marks[0].start, "lazy", 4), 0, "%s", h->snippet);
    cr_assert_eq(h->marks[0].length, 4);
    cr_assert_null(hits.next_cursor);
}

Test(search, a_snippet_is_a_part_around_the_match)
{
    make("s");
    char text[6000] = "";
    for (int i = 0; i < 300; i++)
        strcat(text, i == 200 ? "the NEEDLE is here " : "hay and straw ");
    ask("s", "e", text);
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "needle"}, &hits));
    cr_assert_eq(hits.n, 1);
    const ramet_hit *h = &hits.items[0];
    cr_assert_lt(strlen(h->snippet), 1000);
    cr_assert_eq(h->n_marks, 1);
    cr_assert_eq(strncmp(h->snippet + h->marks[0].start, "NEEDLE", 6), 0, "%s", h->snippet);
}

Test(search, filters)
{
    fruit();
    fork_at("s", "e2", "f");
    ask("f", "e5", "brown fork");
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "t", (const char *[]){"hot"}, 1, &tags));
    ramet_agent agent = {.name = "echo"};
    ramet_session *s;
    ok(ramet_session_update(T.call, "t", &(ramet_session_patch){.agent = &agent}, &s));
    ramet_call *c = T.call;
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .session = "t"}), "e4");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .session = "f"}), "e1 e2 e5",
                     "what it inherited is on its path");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .tree = get("s")->tree_id}),
                     "e1 e2 e5");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .tag = "hot"}), "e4");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .agent = "echo"}), "e4");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .role = RAMET_ASSISTANT}),
                     "e2");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .since = T0 + 3 * SECOND}),
                     "e2 e4 e5");
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "brown", .until = T0 + 3 * SECOND}),
                     "e1");
    ramet_hits hits;
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_search(c, &(ramet_search_in){.query = "brown", .session = "none"}, &hits));
    refused(RAMET_TREE_NOT_FOUND, NULL,
            ramet_search(c, &(ramet_search_in){.query = "brown", .tree = "none"}, &hits));
}

Test(search, a_shared_entry_is_found_once)
{
    fruit();
    fork_at("s", NULL, "f");
    fork_at("f", NULL, "g");
    cr_assert_str_eq(found("lazy"), "e2");
}

Test(search, abandoned_entries_are_found_and_marked)
{
    fruit();
    rewind_to("s", "e1");
    answer("s", "e6", "a brown bear");
    cr_assert_str_eq(found("brown"), "e1 e2! e4 e6");
    cr_assert_str_eq(found_by(T.call, &(ramet_search_in){.query = "lazy", .session = "s"}), "e2!");
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(found("brown"), "e1 e2 e4 e6!");
}

Test(search, only_what_the_caller_may_see)
{
    fruit();
    ramet_session *s;
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "p", .owner = "bob"}, &s));
    ask("p", "e7", "brown secret");
    join("s", "carol", RAMET_READER);
    ramet_call *bob = as("bob"), *carol = as("carol"), *eve = as("eve");
    cr_assert_str_eq(found_by(bob, &(ramet_search_in){.query = "brown"}), "e7");
    cr_assert_str_eq(found_by(carol, &(ramet_search_in){.query = "brown"}), "e1 e2");
    cr_assert_str_eq(found_by(eve, &(ramet_search_in){.query = "brown"}), "");
    ramet_hits hits;
    refused_for(eve, RAMET_HIDDEN, NULL,
                ramet_search(eve, &(ramet_search_in){.query = "brown", .session = "s"}, &hits));
    ok_for(carol, ramet_fork(carol, "s", &(ramet_fork_in){.id = "cp", .visibility = RAMET_PRIVATE},
                             &s, NULL));
    ask("cp", "e8", "brown diary");
    ramet_call *ann = as("ann");
    cr_assert_str_eq(found_by(ann, &(ramet_search_in){.query = "diary"}), "");
    cr_assert_str_eq(found_by(carol, &(ramet_search_in){.query = "diary"}), "e8");
    drop("s");
    cr_assert_str_eq(found_by(ann, &(ramet_search_in){.query = "lazy"}), "",
                     "only a private session of another reaches it");
    cr_assert_str_eq(found_by(carol, &(ramet_search_in){.query = "lazy"}), "e2");
}

Test(search, the_adk_log_is_outside)
{
    make("s");
    say("s", "a");
    ramet_append_out out;
    ramet_entry_in in = {.id = "k", .role = RAMET_USER, .text = "password hunter2"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    cr_assert_str_eq(found("hunter2"), "");
}

Test(search, thinking_and_tools_are_not_text)
{
    make("s");
    put("s", &(ramet_entry_in){.id = "e",
                               .role = RAMET_ASSISTANT,
                               .parts = "[{\"type\":\"thinking\",\"text\":\"zebra\"},"
                                        "{\"type\":\"text\",\"text\":\"horse\"}]"});
    cr_assert_str_eq(found("horse"), "e");
    cr_assert_str_eq(found("zebra"), "");
}

Test(search, pages)
{
    make("s");
    for (int i = 0; i < 45; i++) {
        char id[8];
        snprintf(id, sizeof id, "e%d", i);
        ask("s", id, "the same words here");
    }
    ramet_search_in in = {.query = "words"};
    ramet_hits hits;
    bool seen[45] = {false};
    size_t total = 0;
    do {
        ok(ramet_search(T.call, &in, &hits));
        cr_assert_leq(hits.n, 20);
        for (size_t i = 0; i < hits.n; i++) {
            int at = atoi(hits.items[i].entry_id + 1);
            cr_assert_not(seen[at], "e%d twice", at);
            seen[at] = true;
        }
        total += hits.n;
        in.cursor = hits.next_cursor;
    } while (in.cursor);
    cr_assert_eq(total, 45);
}

Test(search, more_matches_rank_higher)
{
    make("s");
    ask("s", "weak",
        "one apple among a great many other words that have nothing to do with fruit at all");
    ask("s", "strong", "apple apple apple");
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "apple"}, &hits));
    cr_assert_eq(hits.n, 2);
    cr_assert_str_eq(hits.items[0].entry_id, "strong");
    cr_assert_gt(hits.items[0].score, hits.items[1].score);
}

Test(search, the_index_follows_and_can_be_made_anew)
{
    fruit();
    ramet_stats st;
    int64_t indexed = -1;
    ok(ramet_search_update(T.call, false, &indexed));
    ok(ramet_stat(T.call, &st));
    cr_assert_eq(st.unindexed, 0);
    ask("s", "new", "platypus");
    cr_assert_str_eq(found("platypus"), "new", "a search waits for what was committed before");
    ok(ramet_search_update(T.call, true, &indexed));
    cr_assert_eq(indexed, 5);
    cr_assert_str_eq(found("platypus"), "new");
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    scratch_reopen(NULL);
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
}

Test(search, what_gc_took_is_not_found)
{
    fruit();
    cr_assert_str_eq(found("quick"), "e1 e4");
    drop("t");
    cr_assert_str_eq(found("quick"), "e1");
    tick(8 * DAY);
    ramet_gc_out out;
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_str_eq(found("quick"), "e1");
}

Test(search, texts_that_are_given_later_are_found)
{
    fruit();
    ramet_hits hits;
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    ok(ramet_indexed_set(T.call, "s", "e1", "an animal of the forest"));
    cr_assert_str_eq(found("forest"), "e1");
    cr_assert_str_eq(found("forest apples"), "e1", "together with its own");
    cr_assert_str_eq(found("brown"), "e1 e2 e4", "and by its own as before");
    ok(ramet_search(T.call, &(ramet_search_in){.query = "forest"}, &hits));
    cr_assert_str_eq(hits.items[0].snippet, "an animal of the forest");
    cr_assert_eq(hits.items[0].n_marks, 1);
    /* Another one takes its place. */
    ok(ramet_indexed_set(T.call, "s", "e1", "lives in a burrow"));
    cr_assert_str_eq(found("forest"), "");
    cr_assert_str_eq(found("burrow"), "e1");
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    /* Nobody hears of it, and the index can be made anew. */
    ramet_events_out events;
    int64_t last = ramet_event_last(T.store), indexed;
    ok(ramet_events(T.call, &(ramet_events_in){.after = last - 1}, &events));
    cr_assert_eq(events.n, 0);
    ok(ramet_search_update(T.call, true, &indexed));
    cr_assert_str_eq(found("burrow"), "e1");
    drop("s");
    tick(8 * DAY);
    ramet_gc_out out;
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_str_eq(found("burrow"), "");
    cr_assert_str_eq(found("brown"), "e4");
}

static void search_file(char *out, size_t n)
{
    snprintf(out, n, "%s-search", T.path);
}

Test(search, a_stopped_index_goes_on_when_the_store_is_open_again)
{
    ramet_hits found;
    int64_t indexed = -1;
    make("s");
    say("s", "needle");
    ramet_search_stop(T.store);
    ok(ramet_search_update(T.call, false, &indexed));
    cr_assert_eq(indexed, 0);
    scratch_reopen(NULL);
    ok(ramet_search(T.call, &(ramet_search_in){.query = "needle"}, &found));
    cr_assert_eq(found.n, 1);
}

Test(search, a_lost_or_ruined_index_is_made_anew)
{
    fruit();
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    char path[200];
    search_file(path, sizeof path);
    scratch_shut();
    cr_assert_eq(remove(path), 0);
    scratch_reopen(NULL);
    cr_assert_str_eq(found("brown"), "e1 e2 e4", "a lost one");
    scratch_shut();
    FILE *f = fopen(path, "wb");
    for (int i = 0; i < 5000; i++)
        fputc(i * 7 % 251, f);
    fclose(f);
    scratch_reopen(NULL);
    cr_assert_str_eq(found("brown"), "e1 e2 e4", "one of junk");
    scratch_shut();
    f = fopen(path, "r+b");
    fseek(f, 4096, SEEK_SET);
    for (int i = 0; i < 3000; i++)
        fputc(0xee, f);
    fclose(f);
    scratch_reopen(NULL);
    ramet_hits hits;
    ramet_status st = ramet_search(T.call, &(ramet_search_in){.query = "brown"}, &hits);
    if (st != RAMET_OK) {
        int64_t n;
        ok(ramet_search_update(T.call, true, &n));
    }
    cr_assert_str_eq(found("brown"), "e1 e2 e4", "a damaged one");
    ok(ramet_search(T.call, &(ramet_search_in){.query = "lazy"}, &hits));
    cr_assert_eq(hits.n, 1);
}

Test(search, an_index_of_another_store_is_not_taken)
{
    fruit();
    cr_assert_str_eq(found("brown"), "e1 e2 e4");
    char path[200], kept[210];
    search_file(path, sizeof path);
    snprintf(kept, sizeof kept, "%s.kept", path);
    scratch_shut();
    cr_assert_eq(rename(path, kept), 0);
    cr_assert_eq(remove(T.path), 0);
    scratch_reopen(NULL);
    make("new");
    ask("new", "n1", "brown paper");
    scratch_shut();
    remove(path);
    cr_assert_eq(rename(kept, path), 0);
    scratch_reopen(NULL);
    cr_assert_str_eq(found("brown"), "n1");
    cr_assert_str_eq(found("lazy"), "");
}

Test(search, making_the_index_anew_is_for_the_embedding_program)
{
    fruit();
    ramet_call *ann = as("ann");
    int64_t n;
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_search_update(ann, true, &n));
}

Test(search, long_texts_are_found_by_their_beginning)
{
    make("s");
    static char text[3 << 20];
    for (size_t i = 0; i + 7 < sizeof text; i += 7)
        memcpy(text + i, "filler ", 7);
    memcpy(text, "aardvark ants ", 14);
    put("s", &(ramet_entry_in){.id = "e", .role = RAMET_USER, .text = text});
    cr_assert_str_eq(found("aardvark"), "e");
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "aardvark"}, &hits));
    cr_assert_lt(strlen(hits.items[0].snippet), 2000);
}

/* 1.5 MB, each word another. */
Test(search, of_a_huge_text_the_beginning_counts)
{
    enum { WORDS = 150000, EACH = 10, KEPT = (256 << 10) / EACH };
    make("s");
    static char text[WORDS * EACH + 1];
    for (int i = 0; i < WORDS; i++)
        snprintf(text + (size_t)i * EACH, EACH + 1, "word%05d ", i % 100000);
    put("s", &(ramet_entry_in){.id = "e", .role = RAMET_USER, .text = text});
    ask("s", "small", "word00001 alone");
    cr_assert_str_eq(found("word00000"), "e");
    cr_assert_str_eq(found("word00001"), "e small");
    char word[64];
    snprintf(word, sizeof word, "word%05d", KEPT - 1);
    cr_assert_str_eq(found(word), "e", "the last one that is indexed");
    snprintf(word, sizeof word, "word%05d", KEPT + 1);
    cr_assert_str_eq(found(word), "");
    snprintf(word, sizeof word, "\"word%05d word%05d\"", KEPT - 3, KEPT - 2);
    cr_assert_str_eq(found(word), "e", "a phrase far behind");
    snprintf(word, sizeof word, "\"word%05d word%05d\"", KEPT - 2, KEPT - 3);
    cr_assert_str_eq(found(word), "");
    snprintf(word, sizeof word, "word00001 -\"word%05d word%05d\"", KEPT - 3, KEPT - 2);
    cr_assert_str_eq(found(word), "small");
    snprintf(word, sizeof word, "word00001 -\"word%05d word%05d\"", KEPT - 2, KEPT - 3);
    cr_assert_str_eq(found(word), "e small");
}

Test(search, phrases_of_words_that_come_often)
{
    make("s");
    static char text[16000];
    for (int i = 0; i < 1000; i++)
        strcat(text, i == 900 ? "tick tock " : "tick tack ");
    ask("s", "e", text);
    ask("s", "f", "tick tack");
    cr_assert_str_eq(found("\"tick tock\""), "e");
    cr_assert_str_eq(found("\"tock tick\""), "e");
    cr_assert_str_eq(found("\"tock tack\""), "");
    cr_assert_str_eq(found("tick -\"tock tick\""), "f");
    cr_assert_str_eq(found("\"tick to*"), "", "a star within quotes is no prefix");
    cr_assert_str_eq(found("\"tick to\"*"), "e");
}

/* Words of 3 bytes a letter, beyond what a tsvector keeps of one. */
Test(search, very_long_words)
{
    make("s");
    char word[3 * 900 + 16] = "", other[sizeof word], text[sizeof word + 16];
    for (int i = 0; i < 900; i++)
        strcat(word, "京");
    strcpy(other, word);
    strcat(other, "都");
    snprintf(text, sizeof text, "one %s two", other);
    ask("s", "e", text);
    ask("s", "f", "one two");
    cr_assert_str_eq(found(other), "e");
    cr_assert_str_eq(found(word), "", "it is not the whole word");
    snprintf(text, sizeof text, "%s*", word);
    cr_assert_str_eq(found(text), "e");
    snprintf(text, sizeof text, "one -%s", other);
    cr_assert_str_eq(found(text), "f");
    snprintf(text, sizeof text, "one -%s", word);
    cr_assert_str_eq(found(text), "e f");
}

Test(search, two_handles_find_what_the_other_wrote)
{
    fruit();
    ramet_options opt = scratch_options();
    ramet *second;
    ramet_error err;
    cr_assert_eq(ramet_open(T.path, &opt, &second, &err), RAMET_OK, "%s", err.message);
    ramet_call *c = ramet_call_new(second, NULL, NULL);
    for (int i = 0; i < 20; i++) {
        char id[16], word[16];
        snprintf(id, sizeof id, "x%d", i);
        snprintf(word, sizeof word, "zebra%d", i);
        ramet_call *writer = i % 2 ? T.call : c, *reader = i % 2 ? c : T.call;
        ramet_append_out out;
        ramet_entry_in in = {.id = id, .role = RAMET_USER, .text = word};
        ok_for(writer, ramet_append(writer, "t", &(ramet_append_in){.entries = &in, .n = 1}, &out));
        cr_assert_str_eq(found_by(reader, &(ramet_search_in){.query = word}), id);
    }
    cr_assert_str_eq(found_by(c, &(ramet_search_in){.query = "lazy"}), "e2");
    ramet_call_free(c);
    ramet_close(second);
}

/* When the first events are gone, the entries themselves are gone through. */
Test(search, an_index_is_made_anew_without_events)
{
    fruit();
    int64_t n;
    ok(ramet_search_update(T.call, false, &n));
    cr_assert_eq(n, 4);
    ok(ramet_events_prune(T.call, 1, &n));
    cr_assert_gt(n, 0);
    ok(ramet_search_update(T.call, true, &n));
    cr_assert_eq(n, 4);
    ask("s", "e5", "brown again");
    cr_assert_str_eq(found("brown"), "e1 e2 e4 e5");
    ok(ramet_search_update(T.call, false, &n));
    cr_assert_eq(n, 0);
}

/* ---- a search that nobody waits for */

typedef struct patience {
    int asked, left; /* it stops when it was asked so often; below 0: never */
} patience;

static bool impatient(void *arg)
{
    patience *p = arg;
    p->asked++;
    p->left -= p->left > 0;
    return p->left == 0;
}

Test(search, one_that_nobody_waits_for_stops)
{
    ramet_entry_in entries[500];
    ramet_append_out out;
    ramet_hits hits;
    const ramet_search_in in = {.query = "common", .limit = 200};
    make("s");
    for (size_t i = 0; i < 500; i++)
        entries[i] = (ramet_entry_in){.role = RAMET_USER, .text = "common words"};
    for (int i = 0; i < 8; i++)
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = entries, .n = 500}, &out));
    ok(ramet_search(T.call, &in, &hits)); /* which also indexes them */
    cr_assert_eq(hits.n, 200);
    patience p = {.left = -1};
    ramet_call_stop_when(T.call, impatient, &p);
    ok(ramet_search(T.call, &in, &hits));
    int whole = p.asked;
    cr_assert_gt(whole, 2, "it is asked");
    /* Wherever it is stopped, it ends there, and leaves the next one unharmed. */
    for (int i = 1; i <= whole; i += 1 + whole / 20) {
        p = (patience){.left = i};
        refused(RAMET_STOP, "", ramet_search(T.call, &in, &hits));
        cr_expect_eq(hits.n, 0);
        cr_expect_leq(p.asked, i + 3, "%d of %d, asked %d times", i, whole, p.asked);
    }
    ramet_call_stop_when(T.call, NULL, NULL);
    ok(ramet_search(T.call, &in, &hits));
    cr_assert_eq(hits.n, 200);
}
