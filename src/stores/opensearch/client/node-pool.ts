import { ConnectionPool } from '@opensearch-project/opensearch'

type Options = ConstructorParameters<typeof ConnectionPool>[0]
type Resurrect = ConnectionPool['resurrect']

/** A restarted node is back within seconds; a ping costs little. */
const PING_INTERVAL_MS = 10_000

/**
 * The client's pool of nodes, which pings a failed node after a constant time.
 *
 * By default each failed request of a node doubles that time, from 1 to 32 minutes. Requests that
 * break together count each, so a restarted node would get none for half an hour. Every request
 * would also send a ping until one has ended.
 */
export class NodePool extends ConnectionPool {
  #isPinging = false

  constructor(options: Options) {
    super(options)
    this.resurrectTimeout = PING_INTERVAL_MS
    this.resurrectTimeoutCutoff = 0
  }

  /** Pings a failed node that is due. The client calls it before every request. */
  override resurrect(options: Parameters<Resurrect>[0]): void {
    if (this.#isPinging) return
    this.#isPinging = true
    super.resurrect(options, () => {
      this.#isPinging = false
    })
  }
}
