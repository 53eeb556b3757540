/**
 * A store did not respond, or not completely. The call can be retried, and the API responds 503.
 * Any other error of a store is a bug in the service.
 */
export class Unavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Unavailable'
  }
}
