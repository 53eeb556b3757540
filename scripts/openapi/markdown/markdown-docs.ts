import type { Description } from './document.ts'
import { operationsChapter } from './operations.ts'
import { schemasChapter } from './schemas.ts'
import { webhooksChapter } from './webhooks.ts'

/** Renders the complete documentation page as Markdown. */
export function renderMarkdownDocs(document: object, guide: string): string {
  // The JSON round trip yields the published document; the builder's types are narrower.
  const description: Description = JSON.parse(JSON.stringify(document))
  const { title, version, description: summary } = description.info
  return `${[
    `# ${title}`,
    summary,
    `Versão ${version}. O mesmo que a página em \`/docs\`; a descrição OpenAPI está em \`/openapi.json\`.`,
    demoteHeadings(guide),
    operationsChapter(description),
    webhooksChapter(description),
    schemasChapter(description),
  ].join('\n\n')}\n`
}

/** Moves chapters one heading level down. A `#` inside a code block is no heading. */
function demoteHeadings(guide: string): string {
  let isCode = false
  const lines = guide.split('\n').map((line) => {
    if (line.startsWith('```')) isCode = !isCode
    return !isCode && /^#+ /.test(line) ? `#${line}` : line
  })
  return lines.join('\n')
}
