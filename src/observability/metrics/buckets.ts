// Histogram buckets in seconds.

/** Requests: from a page in memory to the deadline of a search. */
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Rate-limit decisions: from a Redis in the same rack to just above the deadline of a decision. */
export const DECISION_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1]

/** Event-loop delay: from none to a loop that delays every request. */
export const DELAY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** Indexing lag: from an immediate refresh to a long outage. */
export const LAG_BUCKETS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60, 120, 300]
