import type { PageDescription } from '../markdown/document.ts'
import { renderInline } from './html.ts'
import { operationSections } from './operations.ts'
import { schemaSections } from './schemas.ts'
import { guideSections, renderSection, type Section } from './sections.ts'
import { webhookSections } from './webhooks.ts'

/** Another form of the content of a page. */
interface Alternate {
  href: string
  type: string
  title: string
}

export const publicAlternates: readonly Alternate[] = [
  { href: '/docs.md', type: 'text/markdown', title: 'Markdown' },
  { href: '/openapi.json', type: 'application/json', title: 'OpenAPI 3.1' },
  { href: '/docs/changes.atom', type: 'application/atom+xml', title: 'Feed de mudanças' },
]

export const managementAlternates: readonly Alternate[] = [
  { href: '/docs/guide.md', type: 'text/markdown', title: 'Guia em Markdown' },
  { href: '/openapi.json', type: 'application/json', title: 'OpenAPI 3.1' },
]

/** Renders guide and reference as one static page, which needs no script to be read. */
export function renderDocsPage(
  document: object,
  guide: string,
  alternates: readonly Alternate[],
): string {
  const description = resolveReferences(JSON.parse(JSON.stringify(document)))
  const { title, version, description: summary } = description.info
  // The second one leads here.
  const [firstSentence = ''] = summary.split(/(?<=\.) /)
  const sections = [
    ...guideSections(guide),
    operationSections(description.paths),
    ...webhookSections(description.webhooks ?? {}),
    schemaSections(description),
  ]
  const links = alternates.map(({ href, type, title }) => ({
    head: `<link rel="alternate" href="${href}" type="${type}" title="${title}">`,
    body: `<a href="${href}">${title}</a>`,
  }))
  return `<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary.replaceAll('`', '')}">
<title>${title}: documentação</title>
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
${links.map(({ head }) => head).join('\n')}
<link rel="stylesheet" href="/docs/page.css">
<link rel="stylesheet" href="/docs/reference.css">
<script src="/docs/start.js" type="module"></script>
</head>
<body>
<header>
<a class="skip" href="#conteudo">Ir ao conteúdo</a>
<button class="open-menu" popovertarget="menu">Menu</button>
<a class="home" href="/docs">${title}</a>
<search hidden>
<input type="search" aria-label="Buscar na documentação" placeholder="Buscar" autocomplete="off">
<div class="results" hidden><p role="status"></p><ul></ul></div>
</search>
</header>
<nav id="menu" class="menu" aria-label="Menu" popover>
${menu(sections)}
</nav>
<main id="conteudo" tabindex="-1">
<h1>${title}</h1>
<p class="lead">${renderInline(firstSentence)}</p>
<p class="links">Versão ${version} · ${links.map(({ body }) => body).join(' · ')}</p>
${sections.map((section) => renderSection(section, 2)).join('\n')}
</main>
</body>
</html>
`
}

function menu(sections: readonly Section[]): string {
  const items = sections.map(({ id, title, children }) => {
    const below = children.length > 0 ? `\n${menu(children)}` : ''
    return `<li><a href="#${id}">${title}</a>${below}</li>`
  })
  return `<ul>\n${items.join('\n')}\n</ul>`
}

/** Replaces references to shared responses and headers; those to schemas become links. */
function resolveReferences(document: PageDescription): PageDescription {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const target = '$ref' in value ? String(value.$ref) : ''
    if (/^#\/components\/(?!schemas\/)/.test(target)) return resolve(find(document, target))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]))
  }
  return resolve(document) as PageDescription
}

function find(document: object, reference: string): unknown {
  const keys = reference.split('/').slice(1)
  return keys.reduce((part: object | undefined, key) => Object(part)[key], document)
}
