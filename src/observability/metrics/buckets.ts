/** Buckets of a histogram of seconds: from a page out of memory to the deadline of a search. */
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
