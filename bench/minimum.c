/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimal workload on PostgreSQL (minimum.h).
 */
#include "bench/minimum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char tables[] =
    "CREATE TABLE min_entry(LIKE entry);"
    "ALTER TABLE min_entry ADD PRIMARY KEY(tree,k);"
    /* Leave room in each page so that rows can be updated in place, as in the store. */
    "CREATE TABLE min_branch(LIKE branch INCLUDING DEFAULTS) WITH (fillfactor=70);"
    "ALTER TABLE min_branch ADD PRIMARY KEY(tree,id);"
    "CREATE TABLE min_session(LIKE session INCLUDING DEFAULTS);"
    "ALTER TABLE min_session ADD PRIMARY KEY(tree,no);"
    "CREATE TABLE min_event(no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tree BIGINT NOT "
    "NULL, session BIGINT NOT NULL, kind INT NOT NULL, k BIGINT NOT NULL, n INT NOT NULL,"
    " at BIGINT NOT NULL);"
    /* One branch for each client of each run. */
    "INSERT INTO min_branch(id,tree,session,log,parent,base,depth,jump,jump_base,over,delta,type,"
    "created,len,tip,live,touched,run) "
    "SELECT i,i,i,0,0,0,0,i,0,0,0,0,0,0,sha256(''),1,0,1 FROM generate_series(1,20000) i;"
    "ANALYZE min_branch";

/* Inserts an entry and advances the head of its branch. */
static const char append_script[] =
    "\\set n :n + 1\n"
    "\\set tree :first + :client_id\n"
    "\\set k :tree * 16777216 + :n\n"
    "\\startpipeline\n"
    "BEGIN;\n"
    "INSERT INTO min_entry(k,tree,id,hash,role,author,client,created,text,flags,peer,key_id) "
    "VALUES(:k,:tree,:id,:hash,1,'ann','bench',:n,:text,0,0,0);\n"
    "UPDATE min_branch SET len=:n,tip=:hash,touched=:n WHERE tree=:tree AND id=:tree;\n"
    "COMMIT;\n"
    "\\endpipeline\n";

/* Inserts a branch, a session and an event. */
static const char fork_script[] =
    "\\set n :n + 1\n"
    "\\set tree :first + :client_id\n"
    "\\set no :tree * 16777216 + :n\n"
    "\\startpipeline\n"
    "BEGIN;\n"
    "INSERT INTO min_branch(id,tree,session,log,parent,base,depth,jump,jump_base,over,delta,type,"
    "created,len,tip,live,touched,run) "
    "VALUES(:no,:tree,:no,0,:tree,10,1,:tree,0,0,0,0,:n,10,:hash,1,:n,0);\n"
    "INSERT INTO min_session(no,tree,id,parent,depth,owner,visibility,title,title_key,type,reason,"
    "by_kind,by_id,fork_entry,fork_side,merged_into,first,first_adk,head,adk,undo,redo,moves,"
    "archived,expires,created,updated,deleted,delete_op,purging,seal,from_title) "
    "VALUES(:no,:tree,:id,:tree,1,'ann',0,'',0,0,'',0,'ann',:id,0,0,:no,0,:no,0,0,0,0,0,0,:n,:n,"
    "0,0,0,0,'The title that its parent had then');\n"
    "INSERT INTO min_event(tree,session,kind,k,n,at) VALUES(:tree,:no,3,:no,0,:n);\n"
    "COMMIT;\n"
    "\\endpipeline\n";

static const char *const scripts[] = {append_script, fork_script};
static const char *const names[] = {"append.pgbench", "fork.pgbench"};

void minimum_make(const bench *b, const server_pg *s, const char *database)
{
    server_pg_run(s, database, tables);
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(scratch_path(b, names[i]), "w");
        if (!f || fputs(scripts[i], f) < 0 || fclose(f) != 0)
            bench_die("%s cannot be written", scratch_path(b, names[i]));
    }
}

/* The arguments of pgbench that differ from run to run. */
typedef struct run_words {
    char clients[16], threads[16], seconds[16], first[32], text[ENTRY_BYTES + 8];
} run_words;

static _Noreturn void pgbench_exec(const bench *b, const server_pg *s, const char *database,
                                   minimum_kind kind, const run_words *w)
{
    char path[512];
    const char *const argv[] = {"pgbench",
                                "-n",
                                "-M",
                                "prepared",
                                "-f",
                                scratch_path(b, names[kind]),
                                "-c",
                                w->clients,
                                "-j",
                                w->threads,
                                "-T",
                                w->seconds,
                                "-D",
                                "n=0",
                                "-D",
                                w->first,
                                "-D",
                                w->text,
                                "-D",
                                "id=0198c1d2-0000-7000-8000-000000000000",
                                "-D",
                                "hash=\\x00112233445566778899aabbccddeeff"
                                "00112233445566778899aabbccddeeff",
                                server_pg_url(s, database),
                                NULL};
    snprintf(path, sizeof path, "%s/pgbench", s->bin);
    execv(path, (char *const *)argv);
    _exit(127);
}

static void words_make(run_words *w, int clients, int seconds)
{
    static int first = 1; /* each run uses its own trees */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    words from = {31};
    snprintf(w->clients, sizeof w->clients, "%d", clients);
    snprintf(w->threads, sizeof w->threads, "%d", clients < cores ? clients : (int)cores);
    snprintf(w->seconds, sizeof w->seconds, "%d", seconds);
    snprintf(w->first, sizeof w->first, "first=%d", first);
    memcpy(w->text, "text=", 5);
    words_fill(&from, w->text + 5, ENTRY_BYTES);
    first += clients;
}

double minimum_rate(const bench *b, const server_pg *s, const char *database, minimum_kind kind,
                    int clients, int seconds)
{
    int ends[2], status = -1;
    char line[512];
    double rate = 0, failed = 0;
    run_words w = {0};
    words_make(&w, clients, seconds);
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0)
        bench_die("a child process cannot be started: %s", strerror(errno));
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        pgbench_exec(b, s, database, kind, &w);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "tps = ", 6) == 0)
            rate = strtod(line + 6, NULL);
        else if (strncmp(line, "number of failed transactions: ", 31) == 0)
            failed = strtod(line + 31, NULL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0 || rate <= 0 || failed > 0)
        bench_die("pgbench failed, or did not complete all of its transactions");
    fclose(f);
    return rate;
}
