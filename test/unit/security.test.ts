import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generateApiKey, keyDigest } from '../../src/auth/api-key.ts'
import { newKeyId } from '../../src/auth/key-id.ts'
import { newRequestId } from '../../src/http/request-id.ts'

const root = new URL('../../', import.meta.url)
const security = readFileSync(new URL('SECURITY.md', root), 'utf8')

/** Every test that SECURITY.md names as a proof: a file, and one title or more after it. */
const proofs = [...security.matchAll(/`(test\/[^`]+)`((?:,? "[^"]+")*)/g)].flatMap(
  ([, file = '', quoted = '']) => {
    const titles = [...quoted.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title)
    return titles.length === 0 ? [{ file, title: '' }] : titles.map((title) => ({ file, title }))
  },
)

describe('a proof in SECURITY.md', () => {
  it('SECURITY.md names a proof for most lines', () => {
    expect(proofs.length).toBeGreaterThan(40)
  })

  it.each(proofs)('the proof in $file exists: $title', ({ file, title }) => {
    const step = 'SECURITY.md names a test that has moved or has another title: name it there'
    expect(existsSync(new URL(file, root)), step).toBe(true)
    const code = readFileSync(new URL(file, root), 'utf8')
    expect(title).not.toBe('')
    expect(code.includes(`'${title}'`) || code.includes(`"${title}"`), step).toBe(true)
  })
})

describe('the pattern that finds keys', () => {
  const [, pattern = ''] = /regex = '''(.+)'''/.exec(security) ?? []
  const found = (text: string) =>
    [...text.matchAll(new RegExp(pattern, 'g'))].map(([match]) => match)

  it('the pattern that finds keys equals the one for grep', () => {
    const [, forGrep] = /grep -rIE '([^']+)'/.exec(security) ?? []
    expect(forGrep).toBe(pattern)
  })

  it('finds every key that is issued, and nothing around it', () => {
    for (let count = 0; count < 200; count++) {
      const key = generateApiKey(count % 2 === 0 ? 'live' : 'test')
      const places = [
        key,
        `Authorization: Bearer ${key}`,
        `{"key":"${key}"}`,
        `API_KEY=${key}\n`,
        `https://example.com/v1/orders?key=${key}&limit=1`,
        `curl -H 'Authorization: Bearer ${key}'`,
      ]
      expect(places.map(found)).toEqual(places.map(() => [key]))
    }
  })

  it.each<[string, string]>([
    ['the id of a key', newKeyId()],
    ['the id of a request', newRequestId()],
    ['the digest of a key', keyDigest(Buffer.alloc(32), generateApiKey())],
    ['a truncated key', generateApiKey().slice(0, -1)],
    ['a key with additional letters', `${generateApiKey()}x`],
    ['another prefix', generateApiKey().replace('live', 'root')],
    ['a longer word', `my${generateApiKey()}`],
    ['a placeholder', 'key_live_<API_KEY>'],
    ['the description of a key', '`key_live_` and 38 letters and digits'],
  ])('the pattern that finds keys does not match %s', (_name, text) => {
    expect(found(text)).toEqual([])
  })
})
