import { hash } from 'node:crypto'
import { Feed } from 'feed'
import type { ChangelogEntry } from '../../src/openapi/changelog.ts'

// `feed` accepts only absolute URLs. The origin is removed from the output, and feed readers
// resolve the relative URLs against the URL of the feed.
const ORIGIN = 'https://relative.invalid'
/** The chapter of the documentation page that lists the changes. */
const CHAPTER = `${ORIGIN}/docs#como-a-api-muda`

/** Renders the changelog as an Atom feed, in Portuguese. */
export function atomFeed(changes: readonly ChangelogEntry[]): string {
  const [newest] = changes
  const feed = new Feed({
    id: urn('feed'),
    title: 'Mudanças da API pública de pedidos',
    description: 'O que foi acrescentado, anunciado ou descontinuado.',
    language: 'pt-BR',
    link: CHAPTER,
    feedLinks: { atom: `${ORIGIN}/docs/changes.atom` },
    author: { name: 'API pública de pedidos' },
    generator: false,
    copyright: '',
    ...(newest && { updated: instantOf(newest) }),
  })
  for (const change of changes) {
    feed.addItem({
      id: urn(change.id),
      title: asHtml(change.title),
      description: asHtml(change.text),
      link: CHAPTER,
      date: instantOf(change),
      published: instantOf(change),
      category: [{ name: change.kind, term: change.kind }],
    })
  }
  const xml = feed.atom1().replaceAll(ORIGIN, '').replace('<feed ', '<feed xml:lang="pt-BR" ')
  return `${xml.trim()}\n`
}

/** Escapes text, because `feed` declares every text as HTML. */
const asHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function instantOf({ date }: ChangelogEntry): Date {
  return new Date(`${date}T00:00:00Z`)
}

/** A stable, globally unique id: a version 8 UUID (RFC 9562) of the name. */
function urn(name: string): string {
  const hex = hash('sha256', `public-orders-api/changes/${name}`)
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`]
  return `urn:uuid:${[...parts, variant + hex.slice(17, 20), hex.slice(20, 32)].join('-')}`
}
