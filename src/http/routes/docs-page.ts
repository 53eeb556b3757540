/** What the page may do, with styles that carry `nonce`. Nothing comes from anywhere else, and nothing goes there. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The reference makes its styles as it goes; `strict-styles.js` gives them the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    // It writes how many lines a program has into an attribute of its markup, which no nonce and no hash can allow.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    // What try-it calls: this service alone.
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The page of the documentation, which `script` (its file name) makes out of `/openapi.json`. */
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
