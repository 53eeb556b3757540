import { Failure } from '../faults.ts'

const LONGEST = 200

/**
 * Where the file of an order is: in one of 256 folders, so that a million of them are bearable, under a name that is
 * another one for each id also where upper and lower case are the same: `ord_aB` is `ord_a+b.json`.
 * @throws Failure for an id that makes no file name
 */
export function orderFile(id: unknown): { shard: string; name: string } {
  if (typeof id !== 'string' || id === '') {
    throw new Failure('Veio um pedido sem id. Confira se o endereço é o desta API.')
  }
  const name = id.replace(/[^a-z0-9_-]/gu, (character) =>
    /[A-Z]/.test(character) ? `+${character.toLowerCase()}` : percent(character),
  )
  if (name.length > LONGEST) throw new Failure(`O id "${id}" é comprido demais para um arquivo.`)
  return { shard: shardOf(id), name: `${name}.json` }
}

const percent = (character: string) => Buffer.from(character).toString('hex').replace(/../g, '%$&')

/** Two hexadecimal digits that ids spread over evenly: FNV-1a, since a walk asks for those of a million ids. */
function shardOf(id: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return ((hash ^ (hash >>> 16)) & 0xff).toString(16).padStart(2, '0')
}
