import { ConnectionPool } from '@opensearch-project/opensearch'
import { wallClock } from '../../../../lib/clock.ts'

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
  #isPinging: boolean = false

  constructor(options: Options) {
    super(options)
    this.resurrectTimeout = PING_INTERVAL_MS
    this.resurrectTimeoutCutoff = 0
  }

  /** Pings a failed node that is due. The client calls it before every request. */
  override resurrect(options: Parameters<Resurrect>[0]): void {
    if (this.#isPinging) return
    this.#isPinging = true
    this.#boundWaits()
    super.resurrect(options, () => {
      this.#isPinging = false
    })
  }

  /**
   * The client stores the instant of the next ping. After the clock is set back, it is far ahead.
   */
  #boundWaits(): void {
    const latest = wallClock() + PING_INTERVAL_MS
    for (const node of this.connections) {
      node.resurrectTimeout = Math.min(node.resurrectTimeout, latest)
    }
  }
}
