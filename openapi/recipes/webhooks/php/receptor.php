<?php
// Recebe os webhooks da API de pedidos e guarda cada pedido num arquivo JSON.
// Só PHP 8.1 ou mais novo, sem extensões e sem banco. O README da pasta acima diz como rodar.
declare(strict_types=1);

const TOLERANCIA = 300;
const MAIOR_CORPO = 1_048_576;

// Dois segredos, separados por espaço, durante uma troca.
$segredos = preg_split('/\s+/', (string) getenv('ORDERS_WEBHOOK_SECRET'), -1, PREG_SPLIT_NO_EMPTY);
$pasta = (string) getenv('ORDERS_DIR'); // fora da pasta pública do site: ela guarda dados de compradores
if ($segredos === [] || $pasta === '') {
    responde(500, 'Faltam as variáveis de ambiente ORDERS_WEBHOOK_SECRET e ORDERS_DIR.');
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    responde(405);
}
// Os bytes exatos: um JSON interpretado e gerado de novo tem outra assinatura.
$corpo = (string) file_get_contents('php://input', length: MAIOR_CORPO + 1);
if (strlen($corpo) > MAIOR_CORPO) {
    responde(413);
}

$instante = cabecalho('webhook-timestamp');
if (!assinaturaConfere(cabecalho('webhook-id') . ".$instante.$corpo", $segredos)) {
    responde(400, 'Nenhuma assinatura confere: é o segredo deste endpoint?');
}
if (!ctype_digit($instante) || abs(time() - (int) $instante) > TOLERANCIA) {
    responde(400, 'O instante está a mais de 5 minutos: confira o relógio desta máquina.');
}
$mudou = guarda(json_decode(semRecusados($corpo), flags: JSON_THROW_ON_ERROR), $pasta);

http_response_code(204);
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request(); // responde já; o trabalho demorado vem depois
}
if ($mudou) {
    error_log('guardado: ' . cabecalho('webhook-id'));
}

/** Troca pelo sinal de caractere perdido o que o PHP recusa: a metade de um emoji e o NUL que começa um nome. */
function semRecusados(string $json): string
{
    $inteiros = '\\\\[\\\\"]|\\\\ud[89ab]..\\\\ud[c-f]..'; // uma barra ou aspas escapadas; um par completo
    $metade = '\\\\ud[89a-f]..'; // de um texto cortado
    $nul = '"\K\\\\u0000(?=(?:[^"\\\\]|\\\\.)*+"\s*:)'; // de um parâmetro na URL do checkout
    return (string) preg_replace("/(?:$inteiros)(*SKIP)(*F)|$metade|$nul/i", '\\ufffd', $json);
}

function cabecalho(string $nome): string
{
    return $_SERVER['HTTP_' . strtoupper(strtr($nome, '-', '_'))] ?? '';
}

function assinaturaConfere(string $assinado, array $segredos): bool
{
    $certa = false;
    foreach ($segredos as $segredo) {
        $chave = base64_decode(substr($segredo, strlen('whsec_')), true);
        if ($chave === false || strlen($chave) < 24) {
            responde(500, 'ORDERS_WEBHOOK_SECRET não é um segredo inteiro: ele começa com whsec_.');
        }
        $esperada = 'v1,' . base64_encode(hash_hmac('sha256', $assinado, $chave, true));
        foreach (explode(' ', cabecalho('webhook-signature')) as $recebida) {
            $certa = hash_equals($esperada, $recebida) || $certa;
        }
    }
    return $certa;
}

/** Guarda o pedido e depois o evento: uma queda entre os dois só repete um trabalho igual. */
function guarda(object $evento, string $pasta): bool
{
    foreach (['eventos', 'pedidos'] as $nome) {
        if (!is_dir("$pasta/$nome") && !mkdir("$pasta/$nome", 0700, true) && !is_dir("$pasta/$nome")) {
            responde(500, "Não é possível criar a pasta $pasta/$nome.");
        }
    }
    $vez = fopen("$pasta/vez", 'c');
    flock($vez, LOCK_EX); // uma requisição por vez compara e grava
    $visto = "$pasta/eventos/" . nomeDeArquivo($evento->id);
    if (file_exists($visto)) {
        return false;
    }
    $mudou = $evento->order_id !== null && guardaPedido($evento, $pasta);
    touch($visto);
    return $mudou;
}

function guardaPedido(object $evento, string $pasta): bool
{
    $arquivo = "$pasta/pedidos/" . nomeDeArquivo($evento->order_id) . '.json';
    $antes = is_file($arquivo) ? json_decode(file_get_contents($arquivo)) : null;
    // O timestamp decide primeiro, porque a sequence pode recomeçar.
    $posicao = [$evento->timestamp, $evento->sequence];
    // Um arquivo de antes de haver timestamp não o tem: só a sequence decide.
    if ($antes !== null && $posicao <= [($antes->timestamp ?? '') ?: $evento->timestamp, $antes->sequence]) {
        return false; // mais antigo que o guardado
    }
    $removido = $evento->type === 'order.removed';
    $tem = isset($evento->data);
    $linha = [
        'timestamp' => $evento->timestamp,
        'sequence' => $evento->sequence,
        'buscar' => !$removido && !$tem, // um evento sem o pedido (thin): falta buscá-lo
        // De um pedido removido ficam só timestamp e sequence, para que um evento antigo não o traga de volta.
        'pedido' => $removido ? null : ($tem ? $evento->data : $antes?->pedido),
    ];
    $json = json_encode($linha, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
    // Com fsync, uma queda de energia não deixa um arquivo vazio no lugar do pedido.
    $novo = fopen("$arquivo.novo", 'w');
    $gravou = $novo !== false && fwrite($novo, $json) === strlen($json) && fsync($novo);
    // Antes de rename: o Windows não renomeia um arquivo aberto.
    $gravou = $novo !== false && fclose($novo) && $gravou;
    if (!$gravou || !rename("$arquivo.novo", $arquivo)) {
        responde(500, "Não é possível gravar em $pasta."); // a API tenta de novo
    }
    return true;
}

/** Um id vira nome de arquivo: nada além de letras, dígitos, "_" e "-". */
function nomeDeArquivo(string $id): string
{
    return preg_match('/^[A-Za-z0-9_-]{1,100}$/', $id) ? $id : responde(400, 'O id não é de um evento ou pedido.');
}

function responde(int $status, string $motivo = ''): never
{
    if ($motivo !== '') {
        error_log($motivo);
    }
    http_response_code($status);
    exit;
}
