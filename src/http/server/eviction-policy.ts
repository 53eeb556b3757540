/** The party that a response belongs to. */
export interface Peer {
  /** Whether the request carried a valid key. */
  isAuthenticated: boolean
  /** The account; without a key, the address in the form that the rate limiter counts. */
  id: string
}

/** A connection whose client has not read all of its responses. */
export interface UnreadConnection {
  /** Unread bytes buffered in the process. */
  bytes: number
  peer: Peer
}

interface PeerTotal<C> {
  peer: Peer
  bytes: number
  /** Sorted by size, the smallest first. */
  connections: C[]
}

/**
 * Returns the connections to close, in this order, until the rest buffer at most `maxBytes`.
 * Unauthenticated peers precede accounts; then the peer with the largest total; then its largest
 * connection; then the earlier one. A flood thus closes connections of its own peer only.
 */
export function selectToFreeMemory<C extends UnreadConnection>(
  connections: readonly C[],
  maxBytes: number,
): C[] {
  let excess = connections.reduce((sum, { bytes }) => sum + bytes, 0) - maxBytes
  if (excess <= 0) return []
  const totals = totalsByPeer(connections)
  const chosen: C[] = []
  while (excess > 0) {
    const total = totals.reduce((first, other) => (isEvictedBefore(other, first) ? other : first))
    const connection = total.connections.pop()
    if (connection === undefined) break // Reached only with a negative bound.
    chosen.push(connection)
    total.bytes -= connection.bytes
    excess -= connection.bytes
  }
  return chosen
}

/**
 * Returns the connections to close, in this order, when new connections need their slots.
 * Unauthenticated peers precede accounts; then the peer with the most connections; then its
 * earliest one. An account keeps its latest connection. A connection without unread bytes is kept.
 */
export function selectToFreeSlots<C extends UnreadConnection>(connections: readonly C[]): C[] {
  const counts = new Map<string, number>()
  const ranked = connections
    .filter(({ bytes }) => bytes > 0)
    .toReversed()
    .map((connection) => {
      const { peer } = connection
      const name = peerKey(peer)
      const rank = (counts.get(name) ?? 0) + 1 // Within its peer; the latest is 1.
      counts.set(name, rank)
      return { connection, isAuthenticated: peer.isAuthenticated, rank }
    })
    .toReversed()
  return ranked
    .filter(({ isAuthenticated, rank }) => !isAuthenticated || rank > 1)
    .sort(
      (one, other) =>
        Number(one.isAuthenticated) - Number(other.isAuthenticated) || other.rank - one.rank,
    )
    .map(({ connection }) => connection)
}

function peerKey({ isAuthenticated, id }: Peer): string {
  return `${isAuthenticated} ${id}`
}

function totalsByPeer<C extends UnreadConnection>(connections: readonly C[]): PeerTotal<C>[] {
  const totals = new Map<string, PeerTotal<C>>()
  for (const connection of connections) {
    const { peer, bytes } = connection
    if (bytes === 0) continue // Closing it frees no memory.
    const name = peerKey(peer)
    const total = totals.get(name) ?? { peer, bytes: 0, connections: [] }
    total.bytes += bytes
    total.connections.push(connection)
    totals.set(name, total)
  }
  for (const total of totals.values()) {
    total.connections.reverse().sort((one, other) => one.bytes - other.bytes)
  }
  return [...totals.values()]
}

function isEvictedBefore(one: PeerTotal<unknown>, other: PeerTotal<unknown>): boolean {
  if (one.connections.length === 0) return false
  if (other.connections.length === 0) return true
  const { isAuthenticated } = one.peer
  if (isAuthenticated !== other.peer.isAuthenticated) return !isAuthenticated
  return one.bytes > other.bytes
}
