import { ExpectedError } from '../lib/expected-error.ts'

/** An invalid query parameter. `message` is Portuguese and says how to correct the parameter. */
export class InvalidParamError extends ExpectedError {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'InvalidParamError'
    this.param = param
  }
}
