import { describe, expect, it } from 'vitest'
import { atomFeed } from '../../../scripts/openapi/feed.ts'
import type { ChangelogEntry } from '../../../src/openapi/changelog.ts'

const newest: ChangelogEntry = {
  id: 'dois',
  date: '2026-12-01',
  kind: 'announced',
  title: 'Dois & <três>',
  text: 'Um status novo.',
}
const oldest: ChangelogEntry = {
  ...newest,
  id: 'um',
  date: '2026-11-22',
  kind: 'added',
  title: 'Um',
}
const feed = atomFeed([newest, oldest])
const all = (pattern: RegExp) => [...feed.matchAll(pattern)].map(([, value]) => value)

describe('the feed of changes', () => {
  it('carries the date of the newest change', () => {
    expect(all(/<updated>(.+)<\/updated>/g)[0]).toBe('2026-12-01T00:00:00.000Z')
  })

  it('contains one HTML entry per change, in order', () => {
    const titles = all(/<title type="html"><!\[CDATA\[(.+)\]\]>/g)
    expect(titles).toEqual(['Dois &amp; &lt;três>', oldest.title])
  })

  it('identifies each entry by a stable, unique id', () => {
    const ids = all(/<id>urn:uuid:(.+)<\/id>/g)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-/)
    expect(atomFeed([{ ...oldest, title: 'Outro' }])).toContain(ids.at(-1))
  })

  it('contains relative URLs only', () => {
    expect(all(/href="([^"]+)"/g).every((href) => href?.startsWith('/docs'))).toBe(true)
    expect(feed.replace('http://www.w3.org/2005/Atom', '')).not.toContain('http')
  })
})
