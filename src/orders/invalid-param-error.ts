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

/** A filter on a field that the index of an earlier release lacks. */
export class FilterUnavailableError extends InvalidParamError {
  constructor(param: string) {
    super(
      param,
      `O filtro ${param} ainda não está disponível: o serviço precisa antes preparar os pedidos já gravados. Envie a consulta sem ele ou tente mais tarde.`,
    )
    this.name = 'FilterUnavailableError'
  }
}
