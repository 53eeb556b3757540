/** An index or a database whose loss must not go unnoticed. */
export interface RequiredIndex {
  name: string
  /** The processes that must not run beside an empty one. */
  stop: string
  /** The commands that fill an empty one. */
  refill: string
  /**
   * The same at the end of `index init --after-loss`, and which processes start only after that.
   */
  nextSteps: string
}

const LOAD = '"index load --repair --announce-since INSTANT FILE"'
const INSTANT = 'INSTANT is the time of the loss, since earlier changes were announced already'
/** With the deletions, because without a version record an older version restores an erased order. */
const EVERY_ORDER = 'the newest version of every order of the platform, deletions included'
const REFILL = `${LOAD} with ${EVERY_ORDER}; ${INSTANT}`
const LOAD_STEPS = `Load ${EVERY_ORDER}, with ${LOAD}, then run "index check FILE". ${INSTANT}. `

/** Beside an empty one, a dispatcher would cancel the events of missing orders. */
export const ORDERS_INDEX: RequiredIndex = {
  name: 'the index of the orders',
  stop: '"serve", "index watch" and "webhooks deliver"',
  refill: REFILL,
  nextSteps: `${LOAD_STEPS}Start "serve", "index watch" and "webhooks deliver" only after that: clients would delete their copies of orders that an incomplete list lacks, and events of these orders would be canceled`,
}

/** Readers and dispatchers do not use it. */
export const VERSION_RECORD_INDEX: RequiredIndex = {
  name: 'the index of the version records',
  stop: 'every "index watch" and "index load", and "serve" where it writes pushed orders without a stream',
  refill: REFILL,
  nextSteps: `${LOAD_STEPS}Start other writers only after that: they would accept versions older than the stored orders, and restore erased ones`,
}

/** An empty one rejects every key for good, and accepts the keys of blocked accounts. */
export const KEY_STORE: RequiredIndex = {
  name: 'the store of keys and accounts',
  stop: '"serve"',
  refill:
    '"accounts block" for every account that was blocked, and "keys create" for every key that is lost',
  nextSteps:
    'Run "accounts block" for every account that was blocked, and "keys create" for every key that is lost. Start "serve" only after that. Name the mode of the next load, such as --live: the uses of lost keys are lost too',
}

/**
 * Orders were stored and their index is gone. An empty index would return `200` without orders, and
 * synchronising clients would delete their copies. So commands that need the index throw this. With
 * empty version records, older versions would replace newer ones. With an empty store of keys and
 * accounts, valid keys would get `401`, and blocked accounts `200`.
 */
export class IndexLost extends Error {
  /** `lost`: what is missing, and the evidence that it existed. `hint`: another way to recover. */
  constructor(lost: string, hint = '', { name, stop, refill }: RequiredIndex = ORDERS_INDEX) {
    super(
      `${name} is lost: ${lost}. ${hint}Restore it from a snapshot or a backup; or begin with an empty one: stop ${stop}, then "index init --after-loss", then ${refill}`,
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
