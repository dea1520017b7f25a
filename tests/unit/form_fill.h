/* SPDX-License-Identifier: Apache-2.0
 *
 * form_fill.h: structs with values of all kinds, by the tables of src/form.
 */
#ifndef TESTS_UNIT_FORM_FILL_H
#define TESTS_UNIT_FORM_FILL_H

#include "form/native.h"

#include <string.h>

/* The numbers that decide; 0 for ever: everything is empty. */
typedef struct form_dice {
    arena *a;
    uint64_t state;
} form_dice;

static unsigned dice_roll(form_dice *dice, unsigned sides)
{
    dice->state = dice->state * 6364136223846793005u + (dice->state != 0);
    return (unsigned)(dice->state >> 33) % sides;
}

static const char *dice_text(form_dice *dice)
{
    static const char *const texts[] = {
        NULL, "", "plain", "\"quoted\"\n\\", "b\303\244r \342\202\254", "b17", "ramet", "a2a"};
    return texts[dice_roll(dice, sizeof texts / sizeof texts[0])];
}

static const char *dice_json(form_dice *dice, field_kind kind)
{
    unsigned roll = dice_roll(dice, 3);
    if (!roll)
        return NULL;
    if (kind == FIELD_ARRAY)
        return roll == 1 ? "[]" : "[{\"type\":\"text\",\"text\":\"x\"}]";
    return roll == 1 ? "{}" : "{\"a\":[1,null]}";
}

/* A value that has one of the words of the row; 0 when nothing else comes up. */
static int dice_word(form_dice *dice, const form_field *f)
{
    for (int i = 0; f->values && i < 40; i++) {
        int value = (int)dice_roll(dice, 9) - 1;
        const char *name = f->word_of((unsigned)value);
        const char *at = name ? strstr(f->values, name) : NULL;
        if (at && (at == f->values || at[-1] == '|'))
            return value;
    }
    return 0;
}

static void form_fill(form_dice *dice, const form_schema *s, void *out);

static void *dice_structs(form_dice *dice, const form_schema *of, size_t n)
{
    char *list = arena_array(dice->a, n + 1, of->size);
    for (size_t i = 0; i < n; i++)
        form_fill(dice, of, list + i * of->size);
    return list;
}

static void form_fill_hooks(form_dice *dice, const form_schema *s, void *out)
{
    if (s == &form_session) {
        ramet_session *v = out;
        v->title = v->shown_title = dice_roll(dice, 2) ? "A title" : "";
        v->is_fork = v->parent_id != NULL;
    } else if (s == &form_entry) {
        ramet_entry *v = out;
        v->body = v->format && strcmp(v->format, "ramet") != 0 ? "{\"b\":2}" : NULL;
    } else if (s == &form_fork_in) {
        ((ramet_fork_in *)out)->ephemeral_us = dice_roll(dice, 2) * 1500000;
    } else if (s == &form_hit) {
        ramet_hit *v = out;
        ramet_mark *marks = arena_array(dice->a, 2, sizeof *marks);
        if (v->snippet && strlen(v->snippet) > 4) {
            marks[0] = (ramet_mark){0, 1};
            marks[1] = (ramet_mark){1, (int32_t)strlen(v->snippet) - 1};
            v->n_marks = 2;
        }
        v->marks = marks;
    } else if (s == &form_comparison) {
        ramet_compare_out *v = out;
        v->n_turns = dice_roll(dice, 3);
        v->turns = arena_array(dice->a, v->n_turns + 1, sizeof *v->turns);
        for (size_t i = 0; i < v->n_turns * v->n; i++)
            v->turns[i / v->n].side[i % v->n].to = dice_roll(dice, 9);
    }
}

static void form_fill_member(form_dice *dice, const form_field *f, char *out)
{
    void *p = out + f->offset;
    size_t *n = (size_t *)(void *)(out + f->count);
    switch (f->member) {
    case MEMBER_NONE:
    case MEMBER_HOOK:
        break;
    case MEMBER_TEXT:
    case MEMBER_STRING:
        *(const char **)p = dice_text(dice);
        break;
    case MEMBER_CHARS:
        if (dice_roll(dice, 3))
            memset(p, "0af"[dice_roll(dice, 3)], f -> size - 1);
        break;
    case MEMBER_JSON:
    case MEMBER_SETTINGS:
        *(const char **)p = dice_json(dice, f->kind);
        break;
    case MEMBER_INT64:
    case MEMBER_COUNT:
    case MEMBER_NANO:
        *(int64_t *)p = dice_roll(dice, 4) * INT64_C(1234567891);
        break;
    case MEMBER_INT:
        *(int *)p = (int)dice_roll(dice, 4);
        break;
    case MEMBER_BOOL:
        *(bool *)p = dice_roll(dice, 2);
        break;
    case MEMBER_TIME:
        *(int64_t *)p = dice_roll(dice, 3) * INT64_C(883661522123000);
        break;
    case MEMBER_BRANCH:
    case MEMBER_OVERLAY:
        *(int64_t *)p = dice_roll(dice, 30);
        break;
    case MEMBER_DOUBLE:
        *(double *)p = dice_roll(dice, 9) / 4.0;
        break;
    case MEMBER_WORD:
        *(int *)p = dice_word(dice, f);
        break;
    case MEMBER_COMMAS:
        *(const char **)p = dice_roll(dice, 2) ? "admin,auditor" : "";
        break;
    case MEMBER_TEXTS: {
        static const char *const texts[] = {"one", "two", "three"};
        *(const char *const **)p = texts;
        *n = dice_roll(dice, 4);
        break;
    }
    case MEMBER_STRUCT:
        form_fill(dice, f->of, p);
        break;
    case MEMBER_POINTER:
        *(void **)p = f->required && !f->nullable ? dice_structs(dice, f->of, 1)
                      : dice_roll(dice, 2)        ? dice_structs(dice, f->of, 1)
                                                  : NULL;
        break;
    case MEMBER_STRUCTS:
        *n = f->of->size ? dice_roll(dice, 4) : 0;
        *(void **)p = *n ? dice_structs(dice, f->of, *n) : NULL;
        break;
    }
    if (f->none && dice_roll(dice, 3) == 0) {
        if (f->member == MEMBER_INT)
            *(int *)p = (int)f->none;
        else
            *(int64_t *)p = f->none;
    }
}

/* Fills a zeroed struct. */
static void form_fill(form_dice *dice, const form_schema *s, void *out)
{
    for (const form_field *f = s->fields; f->name; f++)
        form_fill_member(dice, f, out);
    form_fill_hooks(dice, s, out);
}

#endif
