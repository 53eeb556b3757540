import { InvalidParamError } from '../../lib/errors/invalid-param-error.ts'

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
