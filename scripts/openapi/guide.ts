import { readdirSync } from 'node:fs'
import type { ChangelogEntry } from '../../src/openapi/changelog.ts'
import type { CodeSample, DocInputs } from '../../src/openapi/document.ts'
import { readOpenApiFile } from '../../src/openapi/openapi-files.ts'
import { operationIds } from '../../src/openapi/operations.ts'

const folder = new URL('../../openapi/guide/', import.meta.url)

/** The sample programs, in the order of the page. */
const programs = {
  'curl.sh': { lang: 'shell', label: 'curl' },
  'curl-repetindo.sh': { lang: 'shell', label: 'bash com curl' },
  'javascript.mjs': { lang: 'javascript', label: 'JavaScript' },
  'python.py': { lang: 'python', label: 'Python' },
  'php.php': { lang: 'php', label: 'PHP' },
  'csharp.cs': { lang: 'csharp', label: 'C#' },
  'java.java': { lang: 'java', label: 'Java' },
  'delphi.dpr': { lang: 'delphi', label: 'Delphi' },
}

const kinds = {
  added: 'acréscimo',
  announced: 'aviso',
  deprecated: 'descontinuação',
} as const satisfies Record<ChangelogEntry['kind'], string>

/** Reads the chapters of `openapi/guide` in numeric order, followed by the list of changes. */
export function readGuide(changes: readonly ChangelogEntry[]): string {
  const chapters = readdirSync(folder).filter((name) => name.endsWith('.md'))
  const texts = chapters.sort().map((name) => readOpenApiFile(`guide/${name}`).toString().trim())
  return [...texts, changeList(changes)].join('\n\n')
}

/** Reads the sample programs that each operation has in `openapi/samples`. */
export function readSamples(): DocInputs['samples'] {
  const samples = operationIds.map((id): [string, CodeSample[]] => {
    const files = readdirSync(new URL(`../samples/${id}/`, folder))
    const present = Object.entries(programs).filter(([name]) => files.includes(name))
    return [
      id,
      present.map(([name, language]) => ({
        ...language,
        source: readOpenApiFile(`samples/${id}/${name}`).toString(),
      })),
    ]
  })
  return Object.fromEntries(samples) as DocInputs['samples']
}

function changeList(changes: readonly ChangelogEntry[]): string {
  const items = changes.map((change) => {
    const { date, kind, title, text } = change
    return `- **${date} · ${title}** (${kinds[kind]}). ${text}${when(change)}`
  })
  return ['## Mudanças até agora', ...items].join('\n\n')
}

function when(change: ChangelogEntry): string {
  if (change.kind !== 'deprecated') return ''
  const { operations, fields, since, sunset } = change
  const names = (fields ?? operations).map((name) => `\`${name}\``).join(', ')
  return fields === undefined
    ? ` Operações: ${names}. Descontinuadas desde ${since}; \`/v1\` pode deixar de atendê-las a partir de ${sunset}.`
    : ` Campos: ${names}. Descontinuados desde ${since}; continuam em \`/v1\`, e podem faltar numa \`/v2\` a partir de ${sunset}.`
}
