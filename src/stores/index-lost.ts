/**
 * Orders were stored and their index is gone. An empty one in its place would answer `200` with no order,
 * and followers would drop their copies: so every command that needs the index ends with this error.
 */
export class IndexLost extends Error {
  /** `lost`: what is missing, and what shows that it existed. `hint`: another way back, where there is one. */
  constructor(lost: string, hint = '') {
    super(
      `the index of the orders is lost: ${lost}. ${hint}Restore it from a snapshot or a backup; or begin with an empty one: stop what serves and what watches, then "index init --after-loss", then "index load --repair FILE" with every order of the platform`,
    )
    this.name = 'IndexLost'
  }
}

/** What `index init --after-loss` made. */
export interface IndexRecovery {
  /** The empty index, or the file of the empty database. */
  created: string
  /** Indices that are neither read nor fed any more. */
  unused: readonly string[]
}

export const NOTHING_LOST = 'nothing is lost'
