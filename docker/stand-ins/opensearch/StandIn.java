import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node on the ports and in the data folder of the image, with settings from the environment. */
class StandIn {
  public static void main(String[] args) throws Exception {
    var runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> {
      settings.put("network.host", "0.0.0.0").put("http.port", "9200").put("transport.port", "9300");
      settings.put("path.data", "/usr/share/opensearch/data").put("discovery.type", "zen");
      // As the entrypoint of the image: a variable with a dot in its name is a setting.
      System.getenv().forEach((name, value) -> {
        if (name.matches("[a-z0-9_]+(\\.[a-z0-9_]+)+")) settings.put(name, value);
      });
    });
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        runner.close();
      } catch (Exception failure) {
        failure.printStackTrace();
      }
    }));
    runner.build(new String[] {"-basePath", "/usr/share/opensearch/runner", "-numOfNode", "1",
        "-clusterName", "docker-cluster", "-useLogger"});
    Thread.currentThread().join();
  }
}
