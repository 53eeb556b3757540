/**
 * A store that does not answer, or not completely: the call may be repeated and becomes a 503. Anything
 * else that a store throws is a fault of ours.
 */
export class Unavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Unavailable'
  }
}
