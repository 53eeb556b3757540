import type { FastifyReply } from 'fastify'

const MAX_NAMES = 10
const MAX_NAME_LENGTH = 64

/**
 * Tells in `Ignored-Params` which query parameters changed nothing: a misspelled filter filters nothing,
 * and its author should see that (contract, "Filter rules" 4). Names are percent-encoded.
 */
export function tellIgnored(
  reply: FastifyReply,
  query: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const ignored = Object.keys(query).filter((name) => !known.includes(name))
  if (ignored.length === 0) return
  const names = ignored.slice(0, MAX_NAMES).map((name) => encode(name.slice(0, MAX_NAME_LENGTH)))
  reply.header('Ignored-Params', names.join(', '))
}

function encode(name: string): string {
  // A surrogate cut from its pair cannot be encoded.
  return encodeURIComponent(name.toWellFormed())
}
