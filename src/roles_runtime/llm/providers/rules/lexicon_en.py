"""What English words mean in a question about a table: a table of senses, no code.

Each line is (kind, argument, phrases). A kind is the letter by which `filters`, `clauses` and `cores` know it.
No word that changes a meaning (not, except, percent, ratio, second, per capita ...) may stand under the harmless
kinds ``_`` (dropped), ``w`` and ``o`` (dropped, but a border between clauses).
"""

from __future__ import annotations

ENGLISH: tuple[tuple[str, str, str], ...] = (
    # operations
    ("O", "sum", (
        "total | sum | sum of | sum up | total up | summed | add up | the sum total of | grand total"
        " | overall total | combined | total amount of | overall sum"
    )),
    ("O", "mean", (
        "average | mean | avg | average value of | mean value of | on average | averaged | arithmetic mean"
    )),
    ("O", "median", "median | median value of | middle value of"),
    ("O", "min", "minimum | minimum of | min | minimal | smallest value of | lowest value of"),
    ("O", "max", "maximum | maximum of | max | maximal | largest value of | highest value of | peak"),
    # counting: how many, how much, different ones
    ("H", "", (
        "how many | number of | the number of | count | count of | count up | the count of | counts of | no. of"
        " | # of | total number of | overall number of | amount of rows | tally | how many are | total count of"
        " | quantity of rows | how many total | how often | how many times | frequency | frequency of | value count"
        " | value counts of"
    )),
    ("U", "", "how much"),
    ("D", "", (
        "distinct | unique | different | distinct value of | unique value of | different value of"
        " | possible value of | all the different | kind of | type of | all possible | various | sort of"
    )),
    ("HD", "", (
        "number of distinct | number of unique | number of different | count of distinct | count of unique"
        " | distinct count of | unique count of | how many distinct | how many unique | how many different"
        " | how many kind of | how many type of | count distinct | count unique | number of type of"
        " | number of distinct value of | number of unique value of | how many unique value of | nunique"
        " | how many distinct value of | cardinality of | unique count | distinct count | number of kind of"
        " | how many different kind of | how many different type of | how many separate"
        " | how many distinct value in | how many unique value in | how many different value in"
        " | how many unique value are there in | how many distinct value are there in"
        " | how many different value are there in | how many sort of"
    )),
    # superlatives; after the colon, of which columns the word speaks
    ("S", "max", "strongest | highest | largest | biggest | greatest | the highest value of | top-most"),
    ("S", "min", "weakest | lowest | smallest | the lowest value of | tiniest"),
    ("S", "most", "most | the most"),
    ("S", "least", "fewest | least | the fewest | the least"),
    ("S", "max:weight", "heaviest"),
    ("S", "min:weight", "lightest"),
    ("S", "max:length", "longest"),
    ("S", "min:length", "shortest"),
    ("S", "max:height", "tallest"),
    ("S", "max:age", "oldest"),
    ("S", "min:age", "youngest"),
    ("S", "max:date", "latest | most recent | newest"),
    ("S", "min:date", "earliest"),
    ("S", "max:price", "most expensive | priciest | costliest | dearest"),
    ("S", "min:price", "cheapest | least expensive"),
    ("S", "max:power", "most powerful"),
    ("S", "min:power", "least powerful"),
    ("S", "max:temperature", "hottest | warmest"),
    ("S", "min:temperature", "coldest | coolest"),
    ("S", "max:wind", "windiest"),
    ("S", "max:precipitation", "wettest | rainiest"),
    ("S", "max:population", "most populous | most populated"),
    ("S", "min:population", "least populous | least populated"),
    ("S", "max:deep", "deepest"),
    ("M", "max", (
        "most common | most frequent | most often | most popular | commonest | most frequently occurring"
        " | most commonly occurring | mode of | most frequent value of | most common value of | most frequently"
        " | most commonly | occurs most often | occur most often | appears most often | appear most often"
        " | occurs the most | appears the most | shows up most often | occurs most frequently"
        " | appears most frequently"
    )),
    ("M", "min", "least common | least frequent | rarest | least often | least popular | least common value of"),
    ("T", "max", "top | best selling | the top"),
    ("T", "min", "bottom | the bottom"),
    ("T", "first", "first | first few | head | preview | head of"),
    ("T", "last", "last | tail | tail of"),
    # groups: for each, monthly, over time
    ("B", "per", "per"),
    ("B", "", (
        "by | for each | in each | of each | each | for every | in every | every | on each | at each | from each"
        " | within each | grouped by | group by | broken down by | break down by | broken out by | split by"
        " | split up by | breakdown by | by each | across | across all | across the | across each | according to"
        " | for all the different | for each of the | of every | for each individual | for the different"
        " | with each | separately for each | separately by | aggregated by | aggregate by | segmented by"
        " | grouped on | by different | across different | across the different | among the different"
        " | summarized by | summarised by | for the various | for all different | in the different"
        " | depending on the | on every | at every | during each | grouped per | for any given | each individual"
    )),
    ("p", "year", "yearly | annual | annually"),
    ("p", "quarter", "quarterly"),
    ("p", "month", "monthly"),
    ("p", "week", "weekly"),
    ("p", "day", "daily"),
    ("@", "", (
        "over time | over the time | through time | across time | over the years | over the year | over the month"
        " | over the course of time | as time goes by | through the years"
    )),
    # comparisons
    ("K", ">", (
        "> | more than | greater than | over | above | higher than | larger than | bigger than | exceeding"
        " | exceeds | exceed | exceeded | in excess of | beyond | upwards of | strictly greater than"
        " | strictly more than | bigger in than | strictly above | strictly over"
    )),
    ("K", "<", (
        "< | less than | fewer than | under | below | lower than | smaller than | strictly less than"
        " | strictly below"
    )),
    ("K", ">=", (
        ">= | ≥ | at least | no less than | not less than | no fewer than | minimum of | or more than"
        " | greater than or equal to | more than or equal to | from at least | not below | a minimum of"
    )),
    ("K", "<=", (
        "<= | ≤ | at most | no more than | not more than | up to | maximum of | less than or equal to | not above"
        " | a maximum of | not over | not exceeding | fewer than or equal to | smaller than or equal to"
    )),
    ("K", "==", "= | == | equal to | equal | exactly | equals to | precisely | set to | of exactly"),
    ("K", "> date", "after | later than"),
    ("K", "< date", "before | earlier than | prior to"),
    ("K", ">= date", "since | starting from | starting in | from the year | beginning in | as of | starting with"),
    ("K", "<= date", "until | till | up until | through"),
    ("K", ">:age", "older than | aged over | aged above | above the age of | over the age of"),
    ("K", "<:age", "younger than | aged under | aged below | under the age of | below the age of"),
    ("K", "==:age", "aged"),
    ("K", ">:weight", (
        "heavier than | weighing more than | weighing over | weigh more than | weighed more than | weigh over"
        " | weighing above"
    )),
    ("K", "<:weight", (
        "lighter than | weighing less than | weighing under | weigh less than | weighed less than | weigh under"
        " | weighing below"
    )),
    ("K", ">=:weight", "weighing at least | weigh at least"),
    ("K", "<=:weight", "weighing at most | weigh at most"),
    ("K", ">:length", "longer than"),
    ("K", "<:length", "shorter than"),
    ("K", ">:height", "taller than"),
    ("K", ">:price", "more expensive than | costing more than | priced above | priced over | cost more than"),
    ("K", "<:price", "cheaper than | costing less than | priced below | priced under | cost less than"),
    ("K", ">:temperature", "hotter than | warmer than"),
    ("K", "<:temperature", "colder than | cooler than"),
    ("~", ">=", (
        "or more | or above | or higher | or greater | or over | and above | and up | or larger | and over"
        " | and higher | and more"
    )),
    ("~", "<=", "or less | or fewer | or below | or lower | or under | and below | or smaller"),
    ("~", ">=:age", "or older | and older"),
    ("~", "<=:age", "or younger | and younger"),
    ("F", "", "between | ranging from | in the range | in the range of | in between | from between"),
    ("t", "", "to | through | thru | up to | - | – | until"),
    # order
    ("Z", "", (
        "sort | sorted | order | ordered | sort by | sorted by | ordered by | arrange | arranged | arranged by"
        " | in order of | sort it by | sorting by | ordering by | sorted on | sorted according to | arrange by"
        " | in the order of | sort on"
    )),
    ("Z", "desc", "rank | ranked | ranked by | rank by | ranking of | ranking"),
    ("z", "desc", (
        "descending | desc | in descending order | from highest to lowest | highest first | largest first"
        " | from largest to smallest | from high to low | high to low | highest to lowest | largest to smallest"
        " | biggest first | in decreasing order | decreasing | from most to least | descending order | newest first"
        " | from biggest to smallest | most first | from the highest to the lowest | from largest to lowest"
        " | latest first | most recent first | from heaviest to lightest | heaviest first | most expensive first"
        " | oldest to youngest | from oldest to youngest | reverse order | in reverse order | from high to lowest"
    )),
    ("z", "asc", (
        "ascending | asc | in ascending order | from lowest to highest | lowest first | smallest first"
        " | from smallest to largest | from low to high | low to high | lowest to highest | smallest to largest"
        " | in increasing order | increasing | from least to most | ascending order | alphabetically"
        " | in alphabetical order | oldest first | from smallest to biggest | from the lowest to the highest"
        " | earliest first | from lightest to heaviest | lightest first | cheapest first | chronologically"
        " | in chronological order | from youngest to oldest | youngest first | youngest to oldest"
    )),
    # pictures
    ("G", "auto", (
        "plot | chart | graph | draw | visualize | visualise | plot of | chart of | graph of | draw a plot of"
        " | draw a chart of | make a chart of | make a plot of | show a chart of | diagram | diagram of"
        " | as a chart | as a plot | in a chart | in a plot | as a graph | with a chart | with a plot | plotted"
        " | draw a graph of | make a graph of | create a chart of | create a plot of | draw a diagram of"
        " | plot a chart of | plot a graph of | generate a plot of | generate a chart of | draw it | chart showing"
        " | graph showing | plot showing | picture of | charted | plot out"
    )),
    ("G", "line", (
        "line | line chart | line plot | line graph | line chart of | line plot of | line graph of | line diagram"
        " | as a line chart | as a line | as a line plot | draw a line chart of | plot a line chart of | trend"
        " | trend of | trend line | trend in | trends in | time series | time series of | time series plot of"
        " | timeline of | trend for | as a line graph | in a line chart | plot a line of | curve | curve of"
        " | with a line chart | line showing | line chart showing | development of | evolution of | time plot of"
    )),
    ("G", "bar", (
        "bar | bar chart | bar plot | bar graph | barplot | barchart | bar chart of | bar plot of | bar graph of"
        " | column chart | column chart of | as a bar chart | as bars | as a bar plot | as a bar graph"
        " | draw a bar chart of | horizontal bar chart | bars of | in a bar chart | with a bar chart | bar diagram"
        " | bar chart showing | plot a bar chart of | bar diagram of"
    )),
    ("G", "scatter", (
        "scatter | scatter plot | scatter chart | scatterplot | scatter plot of | scatterplot of | scatter chart of"
        " | scatter graph of | scatter diagram of | as a scatter plot | dot plot of | scatter graph"
        " | scatter diagram | draw a scatter plot of"
    )),
    ("G", "hist", (
        "histogram | histogram of | as a histogram | hist | hist of | distribution | distribution of"
        " | the distribution of | frequency distribution of | how is distributed | spread out distribution of"
        " | draw a histogram of | frequency distribution | histogram for | histogram showing | distributed"
        " | how are distributed"
    )),
    # two things seen together, and the result before
    ("A", "", "vs | vs. | versus | against | as a function of"),
    ("E", "", (
        "them | it | this | that | those | these | the result | the results | these number | those number"
        " | the same | these result | that result | this result | the above"
    )),
    ("X", "", (
        "correlation | correlation of | correlation between | correlated | correlate | correlation coefficient"
        " | correlation coefficient of | correlation coefficient between | pearson correlation"
        " | pearson correlation between | correlate with | correlated with | relationship between"
        " | relation between | linear relationship between | correlation coefficient for"
        " | linear correlation between | association between | related | relate | related to"
        " | how strongly correlated | how strongly correlated are | how well correlated | how closely related are"
        " | how strongly related are | linked to | linear correlation | relate to"
        " | pearson correlation coefficient between | pearson correlation coefficient | pearson correlation of"
        " | connection between | strongly correlated | closely related"
    )),
    ("X", "matrix", (
        "correlation matrix | correlation matrix of | all correlation | pairwise correlation | correlation table"
    )),
    # about the table: gaps, summary, columns, types, size
    ("I", "", (
        "missing | missing value | missing data | null | null value | nulls | nan | nans | blank | blanks | empty"
        " | empty value | empty cell | na value | missing entry | blank value | missing record | incomplete"
        " | blank cell | not available | unknown value | gap | missing cell | null entry | nan value | na | nas"
        " | unrecorded | not recorded | absent value | lack a value for | lack | lacks | lacking"
        " | without a value for | without any value for | with no value for | has no value for | have no value for"
        " | do not have a value for | don't have a value for | missing a value for | has no | have no"
        " | do not have a | don't have a | no value for | no value in"
    )),
    ("Q", "", (
        "describe | summary | summarize | summarise | summary statistics | summary statistics of"
        " | summary statistics for | descriptive statistics | descriptive statistics of"
        " | descriptive statistics for | statistics | statistics of | basic statistics | basic statistics of"
        " | basic statistics for | overview | overview of | statistical summary | statistical summary of"
        " | summary of | stats | stats for | stats of | basic stats | basic stats for | key statistics"
        " | key statistics for | general statistics | tell me about | give me an overview of | quick summary of"
        " | summary stats | summary stats for | summary stats of | statistics for | basic summary of"
        " | numeric summary of | profile | five number summary of | a summary of | quick overview of | describe the"
    )),
    ("J", "", (
        "column | columns | field | fields | variable | variables | attribute | attributes | feature | features"
        " | header | headers | column name | field name | column header | names of the column | names of all column"
        " | names of column | name of the column | name of each column | names of the field"
        " | name of all the column | column title"
    )),
    ("j", "", (
        "data type | data types | dtype | dtypes | column type | type of each column | types of the column"
        " | type of the column | data type of each column | data type of the column | column data type"
        " | types of each column | data types of the column | datatype | datatypes | data types of column"
        " | type of column | schema | field type | columns and their type | columns and type"
        " | data type of all column"
    )),
    ("h", "", "shape | size | dimension | shape of | size of | how big | how large | how long"),
    # what rows are, and parts of a date
    ("R", "row", (
        "row | record | entry | observation | line item | data point | datapoint | sample | instance | item | case"
        " | element | table row | data row | row of data | individual row | entries | tuple"
    )),
    ("R", "person", "person | people | individual | who | anyone | anybody | somebody | everyone | victim"),
    ("P", "year", "year | calendar year"),
    ("P", "quarter", "quarter | calendar quarter"),
    ("P", "month", "month | calendar month | month of the year | month of year"),
    ("P", "week", "week | calendar week | week number"),
    ("P", "weekday", "weekday | day of the week | day of week | week day | days of the week"),
    ("P", "day", "day | calendar day | date | when | on which day | on what day | on which date | on what date"),
    # months, weekdays and quarters
    ("#", "month 1", "january | jan"),
    ("#", "month 2", "february | feb"),
    ("#", "month 3", "march"),
    ("#", "month 4", "april | apr"),
    ("#", "month 5", "may"),
    ("#", "month 6", "june | jun"),
    ("#", "month 7", "july | jul"),
    ("#", "month 8", "august | aug"),
    ("#", "month 9", "september | sep | sept"),
    ("#", "month 10", "october | oct"),
    ("#", "month 11", "november | nov"),
    ("#", "month 12", "december | dec"),
    ("#", "weekday 0", "monday"),
    ("#", "weekday 1", "tuesday"),
    ("#", "weekday 2", "wednesday"),
    ("#", "weekday 3", "thursday"),
    ("#", "weekday 4", "friday"),
    ("#", "weekday 5", "saturday"),
    ("#", "weekday 6", "sunday"),
    ("#", "quarter 1", "q1 | first quarter | the first quarter | first quarter of | 1st quarter of | quarter 1"),
    ("#", "quarter 2", "q2 | second quarter | the second quarter | second quarter of | 2nd quarter of | quarter 2"),
    ("#", "quarter 3", "q3 | third quarter | the third quarter | third quarter of | 3rd quarter of | quarter 3"),
    ("#", "quarter 4", (
        "q4 | fourth quarter | the fourth quarter | fourth quarter of | last quarter of the year | quarter 4"
        " | 4th quarter of"
    )),
    # units and number words
    ("u", "", "dollar | usd | $ | eur | euro | € | degree | yuan | rmb | point | c | degree celsius"),
    ("u", "age", "year old | year of age | yr old | years-old"),
    ("u", "mm", "mm | millimeter | millimetre"),
    ("u", "cm", "cm | centimeter | centimetre"),
    ("u", "kg", "kg | kilogram | kilo"),
    ("u", "g", "g | gram | gramme"),
    ("u", "lb", "lb | lbs | pound"),
    ("u", "hp", "hp"),
    ("N", "0", "zero"),
    ("N", "1", "one"),
    ("N", "2", "two"),
    ("N", "3", "three"),
    ("N", "4", "four"),
    ("N", "5", "five"),
    ("N", "6", "six"),
    ("N", "7", "seven"),
    ("N", "8", "eight"),
    ("N", "9", "nine"),
    ("N", "10", "ten"),
    ("N", "12", "twelve"),
    ("N", "20", "twenty"),
    # connectives, and the verbs of selling
    ("&", "", (
        "and | , | & | as well as | along with | together with | plus the | ; | and also | then | and then | :"
        " | alongside | and the | followed by"
    )),
    ("|", "", "or | or the | either"),
    ("x", "", "sold | sell | were sold | was sold | did we sell | have we sold | purchased | bought | shipped"),
    ("c", "", "compare | comparison of | compared"),
    # borders of clauses
    ("w", "", (
        "for | in | with | where | that | which | whose | from | on | at | having | have | has | had | among"
        " | within | during | who have | that have | with a | for all | in all | for the | when | which have"
        " | amongst | out of all | restricted to | limited to | filtered by | filtered to | belonging to"
        " | located in | made in | produced in | coming from | come from | came from | comes from"
        " | originating from | recorded in | recorded at | grown at | grown in | living in | found in | found on"
        " | found at | live on | living on | lives on | based in | situated in | made by | built in | built"
        " | manufactured in | manufactured | made | measured in | measured at | measured on | of type | with the"
        " | considering only | looking at | as"
    )),
    ("o", "", "of | of the | of all | of all the | for the value of | 's"),
    # without meaning
    ("_", "", (
        "the | a | an | is | are | was | were | be | been | do | does | did | there | what | which one | show"
        " | show me | list | list out | list all | list of | a list of | please | could you | can you | would you"
        " | you | i | know | want to | would like to | i'd like to | i would like | need to | want | want to know"
        " | to know | can i | could i | to see | i'd like | would like | like to know | we want | need | help me"
        " | i need to know | how | i want to | look like | tell | me | give | get | find | find out | calculate"
        " | compute | work out | determine | let | see | us | we | our | my | its | their | display | print"
        " | return | report | fetch | retrieve | all | any | table | dataset | data set | data | file | csv | sheet"
        " | spreadsheet | data frame | dataframe | df | value | what about the | contain | contained | include"
        " | included | exist | make | create | produce | generate | figure | figure out | out | . | ? | ! | ( | )"
        " | hi | hello | hey | thanks | thank you | kindly | so | look | up | ever | so far | in total | overall"
        " | altogether | in the data | in the dataset | in this dataset | in the table | in the file | in this file"
        " | in this table | in the data set | in our data | of the data | of the dataset | of the table"
        " | of the file | of this dataset | of this file | of this table | in my data | in my file | in these data"
        " | in here | this dataset | this file | this table | this data | the whole dataset | the entire dataset"
        " | whole dataset | entire dataset | entire table | whole table | in this data | in the csv"
        " | in the spreadsheet | in the sheet | for this dataset | for the dataset | for the data"
        " | for the whole dataset | for the entire dataset | for the whole table | across the dataset"
        " | across the whole dataset | across all row | of all row | across the entire dataset"
        " | over the whole dataset | over all row | from the data | from the dataset | from this file"
        " | from the table | recorded | observed | reported | measured | listed | registered | present | found"
        " | occur | occurred | happen | happened | respectively | interested | interested in | help | using | use"
        " | based on | actually | go | i'm | let's | we've | i've | pls | plz | ok | okay | really | provide"
        " | provide me with | present me | output | pull | pull up | sir | quickly | quick | simple | nice"
        " | need to know | wonder | wondering | curious | whether | my question is | question | answer | work"
        " | belong | seen | counted | overall value | level | belong to | belongs to | number | numbers | reading"
        " | measurement | covered | available | appear | represented | inside | stand | stood | look at | reach"
        " | reached | reach a | hit | come | came | got | gets | take | taken | placed | separately | individually"
        " | did it | does it | was it | is it | it is | it was | instead | break down | breakdown of | break out"
        " | group | split | slice | segment | divide up"
    )),
)  # fmt: skip
"""(kind, argument, phrases), the phrases separated by `` | ``."""

FOLLOW_UP_EN = ("and ", "what about ", "how about ", "same for ", "also ", "now ")
"""How a question begins that leans on the one before."""

SCALES_EN: dict[str, float] = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
"""Words that multiply the number before them."""
