// Busca um pedido: java Pedido.java ord_…  Java 17 ou mais novo, sem dependências.
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

public class Pedido {
    public static void main(String[] args) throws Exception {
        var http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
        String id = URLEncoder.encode(args[0], StandardCharsets.UTF_8);
        var request = HttpRequest.newBuilder(
                        URI.create(System.getenv("ORDERS_API_URL") + "/v1/orders/" + id))
                .header("Authorization", "Bearer " + System.getenv("ORDERS_API_KEY"))
                .timeout(Duration.ofSeconds(30))
                .build();
        for (int attempt = 0; ; attempt++) {
            var response = http.send(request, BodyHandlers.ofString());
            int status = response.statusCode();
            if (status == 200) {
                if (!response.body().contains("\"object\":\"order\"")) {
                    throw new IllegalStateException("A resposta não é da API. Confira ORDERS_API_URL.");
                }
                System.out.println(response.body());
                return;
            }
            // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
            boolean worthRepeating = status == 429 || status >= 500;
            if (!worthRepeating || attempt == 5) {
                throw new IllegalStateException(status + " " + response.body());
            }
            long retryAfter = response.headers().firstValueAsLong("Retry-After").orElse(0);
            Thread.sleep(1000 * Math.max(retryAfter, 1L << attempt));
        }
    }
}
