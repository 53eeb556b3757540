import type { Description } from './document.ts'
import { operationsChapter } from './operations.ts'
import { schemasChapter } from './schemas.ts'

/** The whole page of the documentation as one Markdown text. */
export function markdownTwin(document: object): string {
  // As it is on the wire: the types of what the code builds it from say less than that.
  const description: Description = JSON.parse(JSON.stringify(document))
  const { title, version, description: guide } = description.info
  return `${[
    `# ${title}`,
    `Versão ${version}. O mesmo que a página em \`/docs\`; a descrição OpenAPI está em \`/openapi.json\`.`,
    belowTitle(guide),
    operationsChapter(description),
    schemasChapter(description),
  ].join('\n\n')}\n`
}

/** Chapters one level further down; what begins with `#` in a block of code is no heading. */
function belowTitle(guide: string): string {
  let isCode = false
  const lines = guide.split('\n').map((line) => {
    if (line.startsWith('```')) isCode = !isCode
    return !isCode && /^#+ /.test(line) ? `#${line}` : line
  })
  return lines.join('\n')
}
