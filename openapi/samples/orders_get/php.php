<?php
// Busca um pedido: php pedido.php ord_…  PHP 8 com a extensão curl.

for ($attempt = 0; ; $attempt++) {
    $retryAfter = 0;
    $curl = curl_init(getenv('ORDERS_API_URL') . '/v1/orders/' . rawurlencode($argv[1]));
    curl_setopt_array($curl, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
        CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('ORDERS_API_KEY')],
        CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$retryAfter) {
            if (preg_match('/^Retry-After: *(\d+)/i', $line, $found)) {
                $retryAfter = (int) $found[1];
            }
            return strlen($line);
        },
    ]);
    $body = curl_exec($curl);
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    if ($status === 200 && $body !== false) {
        break;
    }
    // Só vale repetir 429, 5xx e conexões que falharam.
    // Espera o maior entre Retry-After e um tempo que dobra.
    $worthRepeating = $body === false || $status === 429 || $status >= 500;
    if (!$worthRepeating || $attempt === 5) {
        throw new RuntimeException("$status $body" . curl_error($curl));
    }
    sleep(max($retryAfter, 2 ** $attempt));
}

$order = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
echo json_encode($order, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE), PHP_EOL;
