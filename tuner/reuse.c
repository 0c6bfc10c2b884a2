/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "reuse.h"

/* A window of a few times what a look takes has ends that are sharp enough. */
#define LOOKS_IN_WINDOW 2
#define WINDOW_MIN_NS 1e6
#define RATIO_MIN 1.5
#define RATIO_MAX 3.0

/* Windows this much longer or shorter than the gap are so called. */
#define ALIKE 1.5

const char *const reuse_window_name[] = {
	[REUSE_AS_FLUSHES] = "as_flushes",
	[REUSE_LONGER] = "longer",
	[REUSE_SHORTER] = "shorter",
};

double reuse_window_ns(double gap_ns, double look_ns)
{
	double least = fmax(WINDOW_MIN_NS, LOOKS_IN_WINDOW * look_ns);
	double wanted = isnan(gap_ns) ? REUSE_WINDOW_MAX_NS : gap_ns;

	/* A look may take so long that the limit is out of reach. */
	return fmax(least, fmin(wanted, REUSE_WINDOW_MAX_NS));
}

double reuse_pages(const struct reuse_reading *reading)
{
	double first = reading->window_ns[0];
	double second = reading->window_ns[1] - first;
	double ratio = reading->window_ns[1] / first;
	double fresh = reading->pages[1] - reading->pages[0];

	if (!(first > 0) || !(ratio >= RATIO_MIN && ratio <= RATIO_MAX) ||
	    !isfinite(fresh) || !(reading->pages[0] >= 0))
		return NAN;
	/* Bits are only set, but pages may have been unmapped. */
	fresh = fmax(fresh, 0);
	/*
	 * R(second) is R(first) + (second - first) * fresh / second; less what
	 * is fresh in it leaves
	 */
	return fmax(0, reading->pages[0] - fresh * first / second);
}

/* What the blur of the windows amounts to, in pages. */
static double doubt(const struct reuse_reading *reading)
{
	double second = reading->window_ns[1] - reading->window_ns[0];

	return fmax(0, reading->pages[1] - reading->pages[0]) / second *
	       reading->blur_ns;
}

/*
 * The most that may be reused after a flush: what is touched between two. R is
 * concave, so that of a longer time is at most in proportion.
 */
static double most(const struct reuse_reading *reading)
{
	double longer = fmax(1, reading->gap_ns / reading->window_ns[0]);

	if (isnan(reading->gap_ns))
		return reading->resident;
	return fmin(reading->pages[0] * longer, reading->resident);
}

static enum reuse_window compare(double window_ns, double gap_ns)
{
	if (isnan(gap_ns) || window_ns * ALIKE < gap_ns)
		return REUSE_SHORTER;
	return window_ns > gap_ns * ALIKE ? REUSE_LONGER : REUSE_AS_FLUSHES;
}

/* What times [n] the readings that say something took, into *out. */
static int set_times(const struct reuse_reading *const *reading, size_t n,
		     struct reuse *out)
{
	double *windows = calloc(n, sizeof(*windows));
	double *gaps = calloc(n, sizeof(*gaps));
	size_t i, known = 0;

	for (i = 0; windows && gaps && i < n; i++) {
		windows[i] = reading[i]->window_ns[0];
		if (isfinite(reading[i]->gap_ns))
			gaps[known++] = reading[i]->gap_ns;
	}
	if (windows && gaps) {
		out->window_ns = stats_median(windows, n);
		out->gap_ns = stats_median(gaps, known);
		out->window = compare(out->window_ns, out->gap_ns);
	}
	free(windows);
	free(gaps);
	return isfinite(out->window_ns) ? 0 : -1;
}

/* The median of W in pages[n] with its interval, and all else. */
static int say(const struct reuse_reading *const *reading, const double *pages,
	       size_t n, double limit, struct reuse *out)
{
	double *doubts = calloc(n, sizeof(*doubts)), wider;
	struct interval ci = stats_median_interval(pages, n);
	size_t i;

	if (!doubts || stats_summarise(pages, n, &out->spread) < 0) {
		free(doubts);
		return -1;
	}
	out->at_most = out->huge = 0;
	for (i = 0; i < n; i++) {
		doubts[i] = doubt(reading[i]);
		out->huge = fmax(out->huge, reading[i]->huge);
		out->at_most = fmax(out->at_most, most(reading[i]));
	}
	out->at_most = ceil(fmin(out->at_most, limit));
	out->pages.value = out->spread.median;
	wider = stats_median(doubts, n);
	free(doubts);
	if (isfinite(ci.lo))
		out->pages.ci95 = (struct interval){
			fmax(ci.lo - wider, 0),
			fmin(ci.hi + wider, limit),
		};
	return set_times(reading, n, out);
}

int reuse_of(const struct reuse_reading *reading, size_t n,
	     unsigned int entries, struct reuse *out)
{
	const struct reuse_reading **kept = calloc(n + 1, sizeof(*kept));
	double *pages = calloc(n + 1, sizeof(*pages));
	double limit = entries ? entries : INFINITY;
	size_t i, good = 0;
	int status = kept && pages ? 0 : -1;

	*out = (struct reuse){ .pages = stats_unknown(),
			       .at_most = NAN,
			       .window_ns = NAN,
			       .gap_ns = NAN,
			       .huge = NAN };
	for (i = 0; status == 0 && i < n; i++) {
		double w = reuse_pages(&reading[i]);

		if (isnan(w))
			continue;
		kept[good] = &reading[i];
		pages[good++] = fmin(w, limit);
	}
	if (good)
		status = say(kept, pages, good, limit, out);
	free(kept);
	free(pages);
	return status;
}
