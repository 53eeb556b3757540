import { buildOpenApiDocument } from '../../src/openapi/document.ts'
import { buildManagementDocument } from '../../src/openapi/management/document.ts'
import { readChangelog, readOpenApiFile } from '../../src/openapi/openapi-files.ts'
import { atomFeed } from './feed.ts'
import { readGuide, readSamples } from './guide.ts'
import { llmsText } from './llms.ts'
import { renderMarkdownDocs } from './markdown/markdown-docs.ts'
import { managementAlternates, publicAlternates, renderDocsPage } from './page/docs-page.ts'

/** Generates the files of the folder `openapi`: name → content. */
export function generatedFiles() {
  const changes = readChangelog()
  const document = buildOpenApiDocument({
    samples: readSamples(),
    changelog: changes,
  })
  const management = buildManagementDocument()
  const guide = readGuide(changes)
  const managementGuide = readOpenApiFile('management/guide.md').toString()
  return {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'management.json': `${JSON.stringify(management, null, 2)}\n`,
    'docs.md': renderMarkdownDocs(document, guide),
    'docs.html': renderDocsPage(document, guide, publicAlternates),
    'management/docs.html': renderDocsPage(management, managementGuide, managementAlternates),
    'llms.txt': llmsText(document.info),
    'changes.atom': atomFeed(changes),
  }
}
