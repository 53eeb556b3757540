import { isDeepStrictEqual } from 'node:util'

const MAX_PATHS = 20
// A key of a buyer's URL may contain an e-mail address: only plain keys are reported.
const PLAIN_KEY = /^[\w.-]{1,64}$/

/** The first 20 JSON pointers, as deep as possible, at which two JSON values differ. Pure. */
export function differingPaths(one: unknown, other: unknown): string[] {
  return [...walk(one, other, '')].slice(0, MAX_PATHS)
}

function* walk(one: unknown, other: unknown, path: string): Generator<string> {
  if (isDeepStrictEqual(one, other)) return
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) {
    yield path
    return
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const inner = `${path}/${PLAIN_KEY.test(key) ? key : '*'}`
    yield* walk(ownValue(one, key), ownValue(other, key), inner)
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Own properties only, since a tracking key may be named `constructor`. */
function ownValue(container: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(container, key)?.value
}
