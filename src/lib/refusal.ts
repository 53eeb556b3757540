import { ExpectedError } from './expected-error.ts'

/** `invalid`: the input; `not_found`: an id; `conflict`: the state of what the id names. */
export type RefusalKind = 'invalid' | 'not_found' | 'conflict'

/** A refused operation. The message is a sentence for an operator, and ends with the next step. */
export abstract class Refusal<Code extends string = string> extends ExpectedError {
  readonly code: Code
  readonly kind: RefusalKind

  constructor(code: Code, kind: RefusalKind, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
    this.kind = kind
  }
}
