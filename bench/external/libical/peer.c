/* libical as a peer: reads the benchmark's files, prints one row for each measurement (W1).
 * DTSTART is in 1970; set_start moves the iterator near the question, which is the best libical offers. */

#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHAPES = 16, INSTANTS = 2000 };

static long long cpu(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return spent.tv_sec * 1000000000LL + spent.tv_nsec;
}

static long long next_start(struct icalrecurrencetype *rule, struct icaltimetype dtstart, long long at)
{
    icaltimezone *utc = icaltimezone_get_utc_timezone();
    icalrecur_iterator *iterator = icalrecur_iterator_new(*rule, dtstart);
    long long found = -1;
    if (!iterator)
        return found;
    if (icalrecur_iterator_set_start(iterator, icaltime_from_timet_with_zone(at, 0, utc))) {
        for (;;) {
            struct icaltimetype start = icalrecur_iterator_next(iterator);
            if (icaltime_is_null_time(start))
                break;
            long long unix_start = icaltime_as_timet_with_zone(start, utc);
            if (unix_start > at) {
                found = unix_start;
                break;
            }
        }
    }
    icalrecur_iterator_free(iterator);
    return found;
}

int main(int count, char **words)
{
    char path[4096], line[8192];
    static long long instants[INSTANTS];
    if (count < 3)
        return 2;
    int quick = strcmp(words[2], "quick") == 0;
    long long patience = quick ? 10000000 : 100000000;
    printf("version\tlibical %s\n", ICAL_VERSION);
    snprintf(path, sizeof path, "%s/instants.tsv", words[1]);
    FILE *file = fopen(path, "r");
    if (!file)
        return 1;
    for (int i = 0; i < INSTANTS && fgets(line, sizeof line, file); i++)
        instants[i] = atoll(line);
    fclose(file);
    snprintf(path, sizeof path, "%s/shapes.tsv", words[1]);
    file = fopen(path, "r");
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        char *id = strtok(line, "\t"), *text = strtok(NULL, "\t"), *start = strtok(NULL, "\t");
        if (!id || !text || !start)
            return 1;
        struct icalrecurrencetype rule = icalrecurrencetype_from_string(text);
        icaltimezone *utc = icaltimezone_get_utc_timezone();
        struct icaltimetype dtstart = icaltime_from_timet_with_zone(atoll(start), 0, utc);
        /* The first call warms the caches; the second says how many fit a sample. */
        next_start(&rule, dtstart, instants[0]);
        long long before = cpu();
        next_start(&rule, dtstart, instants[0]);
        long long pilot = cpu() - before + 1, asked = patience / pilot;
        asked = asked < 3 ? 3 : asked > INSTANTS ? INSTANTS : asked;
        if (pilot > patience)
            asked = 1;
        long long total = 7, least = -1;
        for (int i = 0; i < asked; i++) {
            total = (total * 31 + next_start(&rule, dtstart, instants[i])) % 2147483647LL;
            if (total < 0)
                total += 2147483647LL;
        }
        for (int round = 0; round < (quick ? 3 : 8); round++) {
            before = cpu();
            for (int i = 0; i < asked; i++)
                next_start(&rule, dtstart, instants[i]);
            long long spent = cpu() - before;
            if (least < 0 || spent < least)
                least = spent;
        }
        printf("W1\tlibical, set_start\t%s\t%lld\t%lld\t%lld\n", id, least, asked, total);
    }
    fclose(file);
    return 0;
}
