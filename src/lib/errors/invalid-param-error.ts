import { ExpectedError } from './expected-error.ts'

/**
 * An invalid parameter of a request: of its query, its headers or its body. `message` is Portuguese
 * and says how to correct the parameter.
 */
export class InvalidParamError extends ExpectedError {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'InvalidParamError'
    this.param = param
  }
}
