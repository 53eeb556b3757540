import type { DocsContents } from './docs-contents.ts'

/** Allows this origin alone, and inline styles that carry `nonce`. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // Scalar creates styles at run time; `strict-styles.js` adds the nonce to them.
    `style-src 'self' 'nonce-${nonce}'`,
    // Scalar sets style attributes in code samples, which neither nonce nor hash can allow.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    // Test requests from the page go to this service only.
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** What differs between two renderings of a page. */
export interface PageResources {
  /** Of the content security policy. */
  nonce: string
  /** The file name of the reference's script. */
  script: string
}

/** Renders the documentation page. */
export function renderDocsPage(
  { title, summary, plain, alternates }: DocsContents,
  { nonce, script }: PageResources,
): string {
  const links = alternates.map(
    ({ href, type, title }) =>
      `<link rel="alternate" href="${href}" type="${type}" title="${title}">`,
  )
  return `<!doctype html>
<html lang="pt-BR">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="description" content="${summary}">
    <meta property="csp-nonce" content="${nonce}">
    <title>${title}</title>
    <link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
    ${links.join('\n    ')}
    <link rel="stylesheet" href="/docs/page.css">
    <script src="/docs/strict-styles.js" defer></script>
    <script src="/docs/${script}" defer></script>
    <script src="/docs/start.js" type="module"></script>
  </head>
  <body>
    <noscript>Esta página precisa de JavaScript. Sem ele, leia <a href="${plain}">${plain}</a>.</noscript>
    <div id="docs"></div>
  </body>
</html>
`
}
