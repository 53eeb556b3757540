import { Marked } from 'marked'

/** Escapes text for HTML, also within attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** A block of code. It can be focused, because a keyboard scrolls only what has the focus. */
export function codeBlock(source: string): string {
  const label = 'role="group" aria-label="Código" tabindex="0"'
  return `<div class="code"><pre ${label}><code>${escapeHtml(source.trimEnd())}</code></pre></div>`
}

/** A JSON value as a block of code. */
export function jsonBlock(value: unknown): string {
  return codeBlock(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

export function details(summary: string, content: string, attributes = ''): string {
  return `<details${attributes}><summary>${summary}</summary>\n${content}\n</details>`
}

/** A term and its description, of a list of fields, headers or parameters. */
export interface Entry {
  name: string
  /** HTML: the type, and when the field is absent. */
  notes: readonly string[]
  /** HTML. */
  text: string
}

export function definitions(entries: readonly Entry[]): string {
  const rows = entries.map(({ name, notes, text }) => {
    const shown = notes.map((note) => `<span class="note">${note}</span>`).join(' ')
    return `<dt><code>${escapeHtml(name)}</code> ${shown}</dt>\n<dd>${text}</dd>`
  })
  return `<dl>\n${rows.join('\n')}\n</dl>`
}

const marked = new Marked({
  renderer: {
    code: ({ text }) => `${codeBlock(text)}\n`,
    table(token) {
      const row = (cells: typeof token.header, tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('\n')}</tr>`
      const body = token.rows.map((cells) => row(cells, 'td'))
      return `<div class="table" role="group" aria-label="Tabela" tabindex="0"><table>
<thead>${row(token.header, 'th')}</thead>
<tbody>
${body.join('\n')}
</tbody>
</table></div>\n`
    },
    link({ href, tokens }) {
      const download = href.startsWith('/docs/recipes/') ? ' download' : ''
      return `<a href="${escapeHtml(href)}"${download}>${this.parser.parseInline(tokens)}</a>`
    },
  },
})

/** Renders Markdown without headings. */
export function renderMarkdown(markdown: string): string {
  return marked.parse(markdown, { async: false }).trim()
}

/** Renders one line of Markdown, without a paragraph around it. */
export function renderInline(markdown: string): string {
  return marked.parseInline(markdown, { async: false })
}
