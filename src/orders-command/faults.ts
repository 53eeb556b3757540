/** The command line is at fault: nothing was asked of the API, and nothing was written. */
export class UsageFault extends Error {
  /** The sub-command whose help tells more; `null` where the message tells all. */
  readonly command: string | null

  constructor(message: string, command: string | null = null) {
    super(message)
    this.command = command
  }
}

/** What was asked for cannot be done, for a reason that the message tells whole. */
export class Failure extends Error {}

/** Something ended before its time, and a person can go on from there: `hint` says how. */
export class Unfinished extends Error {
  readonly hint: string

  constructor(cause: unknown, hint: string) {
    super('unfinished', { cause })
    this.hint = hint
  }
}
