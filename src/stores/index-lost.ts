/**
 * Orders were stored and their index is gone. An empty index would return `200` without orders, and
 * synchronising clients would delete their copies. So commands that need the index throw this. With
 * empty version records, older versions would replace newer ones.
 */
export class IndexLost extends Error {
  /** `lost`: what is missing, and the evidence that it existed. `hint`: another way to recover. */
  constructor(lost: string, hint = '', index = 'the index of the orders') {
    super(
      `${index} is lost: ${lost}. ${hint}Restore it from a snapshot or a backup; or begin with an empty one: stop what serves and what watches, then "index init --after-loss", then "index load --repair FILE" with every order of the platform`,
    )
    this.name = 'IndexLost'
  }
}

/** The result of `index init --after-loss`. */
export interface IndexRecovery {
  /** The new empty index or database file. */
  created: string
  /** Indices that receive neither reads nor writes any more. */
  unused: readonly string[]
}

export const NOTHING_LOST = 'nothing is lost'
