/**
 * The store permanently rejects a document of this order, or has a damaged version record of it;
 * the others can be written without it.
 */
export class DocumentRejectedError extends Error {
  readonly orderId: string

  constructor(orderId: string, reason: string) {
    super(reason)
    this.name = 'DocumentRejectedError'
    this.orderId = orderId
  }
}

/** A load found a running `index watch`, which does not end by itself. */
export class WatchRunningError extends Error {
  constructor(holder = 'another process') {
    super(
      `"index watch" is running (${holder}) and must be the only writer: append the lines to its stream with "index load --stream", or stop it first`,
    )
    this.name = 'WatchRunningError'
  }
}

/** Another process is the writer now; this one writes nothing more. */
export class LeaseLostError extends Error {
  constructor() {
    super('another writer took over: this one did not renew its lease in time')
    this.name = 'LeaseLostError'
  }
}
