import { ExpectedError } from './expected-error.ts'

/** `invalid`: the input; `not_found`: an id; `conflict`: the state of what the id names. */
export type DomainErrorKind = 'invalid' | 'not_found' | 'conflict'

/** A rejected call of the domain. The message, for an operator, ends with the next step. */
export abstract class DomainError<Code extends string = string> extends ExpectedError {
  readonly code: Code
  readonly kind: DomainErrorKind

  constructor(code: Code, kind: DomainErrorKind, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
    this.kind = kind
  }
}
