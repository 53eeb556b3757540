/** An index whose loss must not go unnoticed. */
export interface RequiredIndex {
  name: string
  /** The processes that must not run beside an empty one. */
  stop: string
  /** What fills an empty one. */
  load: string
  /** Which processes start only once it is filled, and why. */
  startAfterLoad: string
}

/** Beside an empty one, a dispatcher would cancel the events of missing orders. */
export const ORDERS_INDEX: RequiredIndex = {
  name: 'the index of the orders',
  stop: '"serve", "index watch" and "webhooks deliver"',
  load: 'every order of the platform',
  startAfterLoad:
    'Start "serve", "index watch" and "webhooks deliver" only after that: clients would delete their copies of orders that an incomplete list lacks, and events of these orders would be canceled',
}

/** Readers and dispatchers do not use it. */
export const VERSION_RECORD_INDEX: RequiredIndex = {
  name: 'the index of the version records',
  stop: 'every "index watch" and "index load", and "serve" where it writes pushed orders without a stream',
  load: 'the newest version of every order of the platform, deletions included',
  startAfterLoad:
    'Start other writers only after that: they would accept versions older than the stored orders, and restore erased ones',
}

/**
 * Orders were stored and their index is gone. An empty index would return `200` without orders, and
 * synchronising clients would delete their copies. So commands that need the index throw this. With
 * empty version records, older versions would replace newer ones.
 */
export class IndexLost extends Error {
  /** `lost`: what is missing, and the evidence that it existed. `hint`: another way to recover. */
  constructor(lost: string, hint = '', { name, stop, load }: RequiredIndex = ORDERS_INDEX) {
    super(
      `${name} is lost: ${lost}. ${hint}Restore it from a snapshot or a backup; or begin with an empty one: stop ${stop}, then "index init --after-loss", then "index load --repair FILE" with ${load}`,
    )
    this.name = 'IndexLost'
  }
}

/** The result of `index init --after-loss`. */
export interface IndexRecovery {
  /** The new empty index or database file. */
  created: string
  /** What it replaces. */
  lost: RequiredIndex
  /** Indices that receive neither reads nor writes any more. */
  unused: readonly string[]
}

export const NOTHING_LOST = 'nothing is lost'
