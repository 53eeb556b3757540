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

/** Renders the documentation page; `script` is the file name of the reference's script. */
export function renderDocsPage(nonce: string, script: string): string {
  return `<!doctype html>
<html lang="pt-BR">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="description" content="Documentação da API pública de pedidos: guia, referência e exemplos.">
    <meta property="csp-nonce" content="${nonce}">
    <title>API pública de pedidos: documentação</title>
    <link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
    <link rel="alternate" href="/docs.md" type="text/markdown" title="Esta documentação em Markdown">
    <link rel="alternate" href="/docs/changes.atom" type="application/atom+xml" title="Mudanças da API">
    <link rel="stylesheet" href="/docs/page.css">
    <script src="/docs/strict-styles.js" defer></script>
    <script src="/docs/${script}" defer></script>
    <script src="/docs/start.js" type="module"></script>
  </head>
  <body>
    <noscript>Esta página precisa de JavaScript. O mesmo conteúdo está em <a href="/docs.md">/docs.md</a>.</noscript>
    <div id="docs"></div>
  </body>
</html>
`
}
